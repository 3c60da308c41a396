#!/usr/bin/env node
// Checks the version before loading anything, because the storage driver crashes on an old Node.js. Uses only syntax
// that an old Node.js can parse.
const needed = [22, 18]
const [major, minor] = process.versions.node.split('.').map(Number)

if (major > needed[0] || (major === needed[0] && minor >= needed[1])) {
  import('../dist/compile-cache.js')
    .then(({ useCompileCache }) => useCompileCache())
    .then(() => import('../dist/main.js'))
    .then(
      (cli) => cli.main(),
      (error) => {
        if (/EMFILE|ENFILE|too many open files/i.test(`${error.code} ${error.message}`)) {
          const hint = 'raise the limit on open files to 1024 or more: ulimit -n'
          return refuse('descriptor-limit', `cannot load the command: ${error.message}`, hint, 2)
        }
        return refuse('not-built', `cannot load the command: ${error.message}`, 'run pnpm build', 1)
      },
    )
} else {
  const message = `Node.js ${process.versions.node} is too old: perdure needs ${needed.join('.')} or newer`
  refuse('node-too-old', message, 'install Node.js 24 LTS from https://nodejs.org and try again', 2)
}

function refuse(kind, message, hint, exitCode) {
  process.exitCode = exitCode
  process.stderr.write(`error[${kind}]: ${message}\n  hint: ${hint}\n`)
  if (process.argv.includes('--json')) {
    process.stdout.write(`${JSON.stringify({ error: kind, kind, message, hint })}\n`)
  }
}
