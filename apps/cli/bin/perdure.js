#!/usr/bin/env node
// Loads nothing before the check, and says it in syntax an old Node.js reads: the storage driver would crash it.
const needed = [22, 18]
const [major, minor] = process.versions.node.split('.').map(Number)

if (major > needed[0] || (major === needed[0] && minor >= needed[1])) {
  import('../dist/compile-cache.js')
    .then(({ keepCompiledCode }) => keepCompiledCode())
    .then(() => import('../dist/main.js'))
    .then(
      (cli) => cli.main(),
      (error) => refuse('not-built', `the command cannot be loaded: ${error.message}`, 'build it first: pnpm build', 1),
    )
} else {
  const message = `Node.js ${process.versions.node} cannot run perdure, it needs ${needed.join('.')} or newer`
  refuse('node-too-old', message, 'install Node.js 24 LTS from https://nodejs.org and try again', 2)
}

function refuse(kind, message, hint, exitCode) {
  process.exitCode = exitCode
  process.stderr.write(`error[${kind}]: ${message}\n  hint: ${hint}\n`)
  if (process.argv.includes('--json')) {
    process.stdout.write(`${JSON.stringify({ error: kind, kind, message, hint })}\n`)
  }
}
