#!/usr/bin/env bash
# What deploy/ hands to other people's machinery (Kubernetes, containers, systemd, Slurm) speaks of options, settings,
# ports, paths and files that exist here. No container engine and no Kubernetes takes part.
. "$(dirname "$0")/lib.sh"

python3 -c 'import yaml' 2>/dev/null || {
    echo "1..0 # SKIP python3-yaml is not installed"
    exit 0
}
cat >"$work/check.py" <<'PYTHON'
import glob, os, re, shlex, subprocess, sys, yaml
root, build = sys.argv[1:]
bad = []
def wrong(where, text): bad.append(f"{where}: {text}")

def options(program, *words):
    text = subprocess.run([f"{build}/{program}", *words, "--help"], capture_output=True, text=True,
                          env=dict(os.environ, ARGP_HELP_FMT="rmargin=9999")).stdout
    return set(re.findall(r"(--[a-z][a-z0-9-]*)", text))
settings = set(re.findall(r"^\| `([a-z_]+)` \|", open(f"{root}/proto/README.md").read().split("## Settings")[1]
                          .split("## Log lines")[0], re.M))
programs = ["kroo", "kroo-coordinator", "kroo-worker", "kroo-train", "kroo-engine"]

def check_command(where, words):
    """An argument vector of one of ours: every option is one that its --help knows."""
    if not words or os.path.basename(words[0]) not in programs:
        return
    program = os.path.basename(words[0])
    below = [word for word in words[1:2] if not word.startswith("-")]
    known = options(program, *below)
    for word in words[1:]:
        if word.startswith("--") and word.split("=")[0] not in known:
            wrong(where, f"{program} has no option {word}")

def check_environment(where, name):
    if name.startswith("KROO_") and name[5:].lower() not in settings | {"config"}:
        wrong(where, f"{name} is no setting")

# --- Kubernetes ---
images = set(re.findall(r"^FROM \S+ AS (\S+)", open(f"{root}/deploy/container/Containerfile").read(), re.M))
entry = {"kroo-worker": ["kroo-worker"]}
drain_s = 5
documents = []
for path in sorted(glob.glob(f"{root}/deploy/kubernetes/*.yaml")):
    for document in yaml.safe_load_all(open(path)):
        documents.append((f"{os.path.basename(path)}/{document['kind']}", document))
labels_of_pods = []
for where, document in documents:
    if not document.get("apiVersion") or not re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", document["metadata"]["name"]):
        wrong(where, "no apiVersion or a name that is none")
    template = document["spec"].get("template")
    if not template:
        continue
    pod, labels = template["spec"], template["metadata"]["labels"]
    labels_of_pods.append(labels)
    selector = document["spec"].get("selector", {}).get("matchLabels", {})
    if document["kind"] != "Job" and (not selector or not selector.items() <= labels.items()):
        wrong(where, "its selector does not match its own pods")
    if pod.get("terminationGracePeriodSeconds", 0) < 4 * drain_s:
        wrong(where, "too little time to drain")
    volumes = {v["name"] for v in pod.get("volumes", [])} | {
        v["metadata"]["name"] for v in document["spec"].get("volumeClaimTemplates", [])}
    for container in pod.get("initContainers", []) + pod["containers"]:
        here, image = f"{where}/{container['name']}", container["image"]
        if image.startswith("kroo"):
            if {"kroo": "kroo", "kroo-worker": "worker"}.get(image) not in images:
                wrong(here, f"no image {image} comes out of the Containerfile")
            check_command(here, container.get("command", entry.get(image, [])) + container.get("args", []))
            security = container.get("securityContext", {})
            if security.get("allowPrivilegeEscalation") is not False or not security.get("readOnlyRootFilesystem"):
                wrong(here, "its securityContext is open")
        if "limits" not in container.get("resources", {}) and container in pod["containers"]:
            wrong(here, "no limits")
        for variable in container.get("env", []):
            check_environment(here, variable["name"])
        for mount in container.get("volumeMounts", []):
            if mount["name"] not in volumes:
                wrong(here, f"no volume {mount['name']}")
        ports = {p["name"]: p["containerPort"] for p in container.get("ports", [])}
        for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
            get = container.get(probe, {}).get("httpGet")
            if get and (get["port"] not in ports or f'"{get["path"]}"' not in open(f"{root}/coordinator/exporter.c").read()):
                wrong(here, f"{probe} asks for what is not served")
        arguments = " ".join(container.get("args", []))
        for port in ports.values() if image == "kroo" else []:
            if f":{port}" not in arguments:
                wrong(here, f"port {port} is not listened on")
for where, document in documents:
    if document["kind"] == "Service" and not any(document["spec"]["selector"].items() <= labels.items() for labels in labels_of_pods):
        wrong(where, "selects no pod")
    if document["kind"] == "Service" and document["metadata"]["name"] == "kroo-coordinator":
        if {p["port"] for p in document["spec"]["ports"]} != {7710, 9710}:
            wrong(where, "other ports than the pods'")
if len(documents) < 7 or len(labels_of_pods) < 4:
    wrong("kubernetes", "manifests are missing")

# --- the Containerfile ---
text = re.sub(r"\\\n", " ", open(f"{root}/deploy/container/Containerfile").read())
stages = []
for line in text.splitlines():
    word = line.split(None, 1)
    if not word or line.startswith("#"):
        continue
    if word[0] == "FROM":
        stages.append(re.search(r" AS (\S+)$", line).group(1))
    elif word[0] == "COPY" and "--from=" in line and re.search(r"--from=(\S+)", line).group(1) not in stages:
        wrong("Containerfile", f"no stage before: {line}")
    elif word[0] in ("ENTRYPOINT", "CMD"):
        if not word[1].startswith("["):
            wrong("Containerfile", f"a shell would be process 1: {line}")
    elif word[0] not in ("RUN", "COPY", "USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL"):
        wrong("Containerfile", f"unknown: {line}")
wanted = set(" ".join(re.findall(r"^(?:packages|tests)='([^']*)'", open(f"{root}/deploy/setup-debian.sh").read(), re.M)).split())
built = re.search(r"install -y --no-install-recommends([^&]*)&&", text).group(1).split()
for package in built:
    if package not in wanted:
        wrong("Containerfile", f"{package} is not what deploy/setup-debian.sh installs")

# --- systemd and Slurm ---
for path in glob.glob(f"{root}/deploy/systemd/*.service"):
    for line in open(path):
        if line.startswith("ExecStart="):
            check_command(os.path.basename(path), shlex.split(line[10:]))
        if line.startswith("Environment="):
            check_environment(os.path.basename(path), line[12:].split("=")[0])
for path in glob.glob(f"{root}/deploy/slurm/*.sbatch"):
    body = re.sub(r"\\\n", " ", open(path).read())
    for line in body.splitlines():
        if line.startswith("exec "):
            check_command(os.path.basename(path), ["kroo-worker"] + re.findall(r"--[a-z-]+", line))
for path in glob.glob(f"{root}/deploy/examples/*.conf"):
    for line in open(path):
        if re.match(r"[a-z_]+ *=", line) and line.split("=")[0].strip() not in settings:
            wrong(os.path.basename(path), f"no setting: {line.strip()}")
for line in bad:
    print("# " + line)
print(f"checked {len(documents)} documents, {len(settings)} settings known")
sys.exit(bool(bad))
PYTHON
ok "manifests, images, units and job scripts name what exists" python3 "$work/check.py" "$root" "$build"

# The check itself finds what is wrong.
mkdir -p "$work/broken"
cp -r "$root/deploy" "$root/proto" "$root/coordinator" "$work/broken" 2>/dev/null
sed -i 's/--drain-ms/--drain-mss/; s|path: /readyz|path: /ready|; s/KROO_DATABASE/KROO_DATABAS/' "$work/broken/deploy/kubernetes/coordinator.yaml"
said=$(python3 "$work/check.py" "$work/broken" "$build")
found() { for text in 'no option --drain-mss' 'readinessProbe asks' 'KROO_DATABAS is no setting'; do case $said in *"$text"*) ;; *) return 1 ;; esac; done; }
ok "a wrong option, probe and setting would be seen" found
fails "the example settings are read" 1 "coordinator.example:7710: .*needs keys" "$build/kroo-worker" --config "$root/deploy/examples/worker.conf" --state "$work/state" --connect-timeout 1
fails "the coordinator's as well" 1 'key' "$build/kroo-coordinator" --config "$root/deploy/examples/coordinator.conf" --endpoint 'tcp://0.0.0.0:0' --key "$work/none.key"
done_testing
