#!/bin/sh
# Makes the Debian packages `kroo` (everything) and `kroo-worker` (a worker alone) out of what `make install` installs:
#   deploy/deb/build.sh BUILD-FOLDER        -> BUILD-FOLDER/deb/*.deb
# Dependencies come from dpkg-shlibdeps. The same sources make the same packages (SOURCE_DATE_EPOCH).
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
work=$build/deb
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
commit=$(git -C "$root" rev-parse --short=10 HEAD 2>/dev/null || echo source)
version=${KROO_DEB_VERSION:-1+$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M).$commit}
architecture=$(dpkg --print-architecture)
rm -rf "$work"
mkdir -p "$work/all"
umask 022

make -s -C "$root" BUILD="$build" install PREFIX=/usr DESTDIR="$work/all"
gzip -9n "$work"/all/usr/share/man/man1/*.1
strip --strip-unneeded "$work"/all/usr/bin/*

# What belongs to a worker goes into its package, the rest into the other.
move() { # FILE of /
    mkdir -p "$work/kroo-worker/$(dirname "$1")"
    mv "$work/all/$1" "$work/kroo-worker/$1"
}
move usr/bin/kroo-worker
move usr/share/man/man1/kroo-worker.1.gz
move usr/lib/systemd/system/kroo-worker@.service
mv "$work/all" "$work/kroo"
mkdir -p "$work/kroo/etc/kroo" "$work/kroo-worker/etc/kroo"
install -m 644 "$root/deploy/examples/coordinator.conf" "$work/kroo/etc/kroo"
install -m 644 "$root/deploy/examples/worker.conf" "$work/kroo-worker/etc/kroo"
# Debian 12 looks for units in /lib.
for package in kroo kroo-worker; do
    mkdir -p "$work/$package/lib"
    mv "$work/$package/usr/lib/systemd" "$work/$package/lib/systemd"
    rmdir "$work/$package/usr/lib"
done

depends() { # PACKAGE: the libraries of its programs
    mkdir -p "$work/debian"
    printf 'Source: kroo\n\nPackage: %s\nArchitecture: any\n' "$1" >"$work/debian/control"
    (cd "$work" && dpkg-shlibdeps -O "$1"/usr/bin/* 2>/dev/null | sed 's/^shlibs:Depends=//')
}
pack() { # PACKAGE DEPENDS RECOMMENDS SUMMARY DESCRIPTION
    mkdir -p "$work/$1/DEBIAN"
    cat >"$work/$1/DEBIAN/control" <<CONTROL
Package: $1
Version: $version
Architecture: $architecture
Maintainer: Kroo <root@localhost>
Section: games
Priority: optional
Installed-Size: $(du -k -s --apparent-size "$work/$1" | cut -f1)
Depends: $2
Recommends: $3
Description: $4
 $5
CONTROL
    (cd "$work/$1" && find etc -type f | sed 's|^|/|') >"$work/$1/DEBIAN/conffiles"
    (cd "$work/$1" && find . -path ./DEBIAN -prune -o -type f -print | sed 's|^\./||' | LC_ALL=C sort | xargs md5sum) \
        >"$work/$1/DEBIAN/md5sums"
    for script in postinst prerm postrm; do
        install -m 755 "$here/$1.$script" "$work/$1/DEBIAN/$script"
    done
    find "$work/$1" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz --build "$work/$1" "$work" >/dev/null
}
pack kroo-worker "$(depends kroo-worker)" 'systemd' 'plays oware for a Kroo coordinator' \
    'One process a machine plays leased pairs of games and returns them.'
pack kroo "$(depends kroo), kroo-worker (= $version)" 'postgresql (>= 15), systemd' \
    'oware on a cluster: self-play, learning, and matches that prove it' \
    'The coordinator, the trainer, the engine, and the command kroo.'
ls "$work"/*.deb
