// Bootstrap without dependencies: needs only Node >= 18 and npm. Runs `npm start` and `npm test` on a fresh clone.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isBuilt, markBuilt, sourcesOf } from './start-stamp.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const isWindows = process.platform === 'win32'
const [task, ...rest] = process.argv.slice(2)
const pin = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).packageManager.split('+')[0]
const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' }
const quote = (argument) => (isWindows ? `"${argument}"` : argument)

const run = (command, args) => {
  const result = spawnSync(command, args.map(quote), { cwd: root, env, stdio: 'inherit', shell: isWindows })
  if (result.status !== 0) process.exit(result.status ?? 1)
}

let hasPinned
const pnpm = (...args) => {
  hasPinned ??= isPinnedInstalled()
  return hasPinned ? run('pnpm', args) : run('npx', ['-y', pin, ...args])
}
function isPinnedInstalled() {
  const { status, stdout } = spawnSync('pnpm', ['--version'], { cwd: root, shell: isWindows, encoding: 'utf8' })
  return status === 0 && `pnpm@${stdout.trim()}` === pin
}

if (!['start', 'test', 'bench', 'torture', 'pack'].includes(task)) {
  console.error('usage: node tooling/run.mjs start|test|bench|torture|pack [arguments]')
  process.exit(2)
}

const install = () => {
  const isFirst = !existsSync(join(root, 'node_modules'))
  console.error(
    isFirst ? 'installing packages (only now; this takes up to a minute) …' : 'checking the installed packages …',
  )
  pnpm('install', '--frozen-lockfile', '--reporter=append-only', '--loglevel=warn')
}
const build = (...filter) => {
  console.error('building …')
  pnpm('exec', 'turbo', 'run', 'build', ...filter, '--output-logs=errors-only')
}

if (task === 'start') {
  if (!isBuilt(root)) {
    install()
    const sources = sourcesOf(root)
    build('--filter=@perdure/cli...')
    markBuilt(root, sources)
  }
  serve()
} else {
  install()
  build()
  if (task === 'test') pnpm('exec', 'vitest', 'run', ...rest)
  if (task === 'bench') pnpm('--filter', '@perdure/bench', 'run', 'bench', ...rest)
  if (task === 'torture') pnpm('exec', 'node', 'e2e/torture/main.ts', ...rest)
  if (task === 'pack') pnpm('exec', 'node', '--conditions=perdure-source', 'tooling/release/pack.ts', ...rest)
}

function serve() {
  const bundled = join(root, 'node_modules/.bin', isWindows ? 'node.exe' : 'node')
  const node = existsSync(bundled) ? bundled : process.execPath
  const child = spawn(node, [join(root, 'apps/cli/bin/perdure.js'), 'dev', '--demo', ...rest], {
    stdio: 'inherit',
    env: process.env,
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  // npm and npx die on SIGTERM without signalling their script, so stop when the parent process is gone.
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 500).unref()
  child.on('exit', (code, signal) => {
    // A killed server cannot restore the terminal from raw mode.
    if (signal && process.stdin.isTTY && !isWindows) spawnSync('stty', ['sane'], { stdio: 'inherit' })
    process.exit(signal ? 1 : (code ?? 0))
  })
}
