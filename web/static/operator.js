/* An operator's buttons. The token is asked for once and kept while the tab lives; it travels in a header that no other
 * site can send. Where the coordinator has no operators nothing is shown. */
import { el, fill, trouble } from "./shell.js";

let token = sessionStorage.getItem("kroo-token") ?? "";

async function say(path, method = "GET") {
    const reply = await fetch(path, { method, cache: "no-store", headers: token ? { Authorization: `Bearer ${token}` } : {} });
    const answer = await reply.json();
    if (!reply.ok) throw new Error(answer.error);
    return answer;
}

function signIn(changed) {
    const input = el("input", { type: "password", id: "token", autocomplete: "off", spellcheck: "false", size: "28" });
    const enter = async () => {
        token = input.value.trim();
        const { name } = await say("/api/operator");
        if (!name) {
            token = "";
            trouble("That is no operator's token.");
            return;
        }
        sessionStorage.setItem("kroo-token", token);
        trouble("");
        changed();
    };
    input.addEventListener("keydown", (event) => event.key === "Enter" && enter());
    return [el("label", { for: "token" }, "Operator's token "), input, " ", el("button", { type: "button", onclick: enter }, "Show buttons")];
}

const verbs = { running: ["pause", "stop"], pending: ["stop"], paused: ["resume", "stop"], blocked: ["resume", "stop"] };

/** Shows in `place` what an operator may do to an experiment (id, state) now; calls done() after something was done. */
export async function showActions(place, experiment, done) {
    if (place.dataset.shown === `${experiment.id} ${experiment.state}` || place.contains(document.activeElement)) return;
    const { operators, name } = await say("/api/operator");
    place.dataset.shown = `${experiment.id} ${experiment.state}`;
    if (!operators || !verbs[experiment.state]) return fill(place);
    const again = () => {
        delete place.dataset.shown;
        document.activeElement?.blur();
        return showActions(place, experiment, done);
    };
    if (!name) return fill(place, el("div", { class: "actions" }, signIn(again)));
    const reason = el("input", { type: "text", id: "reason", maxlength: "200", size: "28" });
    const act = async (verb, button) => {
        if (verb === "stop" && !button.dataset.sure) {
            button.dataset.sure = "yes";
            button.textContent = "Stop for good?";
            return;
        }
        try {
            await say(`/api/act?id=${experiment.id}&verb=${verb}&reason=${encodeURIComponent(reason.value.trim())}`, "POST");
            trouble("");
            delete place.dataset.shown;
            button.blur();
            reason.blur();
            done();
        } catch (error) {
            trouble(`The coordinator refused: ${error.message}`);
        }
    };
    const buttons = verbs[experiment.state].map((verb) => {
        const button = el("button", { type: "button" }, verb[0].toUpperCase() + verb.slice(1));
        button.addEventListener("click", () => act(verb, button));
        button.addEventListener("blur", () => {
            if (!button.dataset.sure) return;
            delete button.dataset.sure;
            button.textContent = "Stop";
        });
        return button;
    });
    fill(place, el("div", { class: "actions" }, buttons, el("label", { for: "reason" }, "because"), reason,
        el("span", { class: "muted" }, `as ${name}`)));
}
