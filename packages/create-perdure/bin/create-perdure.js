#!/usr/bin/env node
// Checks the version before loading anything: a project that an old Node.js creates would not start. Uses only syntax that
// an old Node.js can parse.
const needed = [22, 18]
const [major, minor] = process.versions.node.split('.').map(Number)

if (major > needed[0] || (major === needed[0] && minor >= needed[1])) {
  import('../dist/main.js').then(
    (create) => create.main(),
    (error) => refuse('not-built', `cannot load the command: ${error.message}`, 'run pnpm build', 1),
  )
} else {
  const message = `Node.js ${process.versions.node} is too old: perdure needs ${needed.join('.')} or newer`
  refuse('node-too-old', message, 'install Node.js 24 LTS from https://nodejs.org and try again', 2)
}

function refuse(kind, message, hint, exitCode) {
  process.exitCode = exitCode
  process.stderr.write(`error[${kind}]: ${message}\n  hint: ${hint}\n`)
}
