#!/bin/sh
# Writes a file system that stands for the base image of deploy/Dockerfile to the folder $1: the Debian packages of this
# machine that Node.js needs, Node.js itself ($2), npm, and the user `node`. So an image is built where none can be pulled.
set -eu
root=$1
mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib" "$root/usr/lib64"
for folder in dev etc home/node proc root run sys tmp var; do mkdir -p "$root/$folder"; done
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
chmod 1777 "$root/tmp"

for package in coreutils dash grep libacl1 libattr1 libc6 libc-bin libgcc-s1 libgmp10 libpcre2-8-0 libselinux1 libstdc++6 sed; do
  dpkg -L "$package"
done | grep -vE '^/usr/share/' | sort -u | while read -r path; do
  if [ -f "$path" ] || [ -L "$path" ]; then echo "$path"; fi
done | tar -C / --no-recursion -cPf - -T - | tar -C "$root" --keep-directory-symlink --strip-components=0 -xf -

cp "$2" "$root/usr/bin/node"
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
mkdir -p "$root/usr/lib/node_modules"
cp -R "$npm" "$root/usr/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/bin/npm"

cp /usr/share/base-passwd/passwd.master "$root/etc/passwd"
cp /usr/share/base-passwd/group.master "$root/etc/group"
echo 'node:x:1000:1000::/home/node:/bin/sh' >> "$root/etc/passwd"
echo 'node:x:1000:' >> "$root/etc/group"
