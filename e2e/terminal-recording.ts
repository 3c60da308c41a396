/**
 * Records the terminal session of the site's home page: executes the blocks of the first section of README.md with the built
 * command, in two terminals. `node --conditions=perdure-source e2e/terminal-recording.ts`
 */
import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { toolPath } from '../tooling/machine-tools.ts'
import { type GuideBlock, guideBlocks } from './guide-blocks.ts'
import { linkPackages } from './guide-packages.ts'
import { removeFolder } from './perdure-process.ts'
import { unusedPort } from './unused-port.ts'

const root = join(import.meta.dirname, '..')
const TARGET = join(root, 'apps/site/recordings/crash.json')
const PANES = { server: 'First terminal: the server', client: 'Second terminal: the client' } as const
type Pane = keyof typeof PANES

/** A reader needs this long for a command, and longer pauses of the program are cut to it. */
const TYPING_MS = 1_200
const LONGEST_PAUSE_MS = 1_500

interface Line {
  readonly pane: Pane
  readonly kind: 'typed' | 'printed'
  readonly text: string
  /** When the line was written, as `performance.now()`. */
  readonly written: number
}

const lines: Line[] = []
const show = (pane: Pane, kind: Line['kind'], text: string): void => {
  lines.push({ pane, kind, text, written: performance.now() })
}

interface Running {
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
  readonly pid: number
}

/** Executes a script in a bash of its own and records what it prints. */
function execute(pane: Pane, script: string, { cwd, env }: Sandbox): Running {
  const child = spawn(toolPath('bash'), ['-c', `{ ${script}\n} 2>&1`], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  createInterface(child.stdout).on('line', (text) => show(pane, 'printed', text))
  return {
    pid: child.pid ?? 0,
    ended: new Promise((resolve) => child.once('close', (code) => resolve(code))),
  }
}

interface Sandbox {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await pause(20)
}

const isPath = (line: string): boolean => line.startsWith('export PATH=')

/** Types the lines of a block one after the other. */
async function type(pane: Pane, { text }: GuideBlock, sandbox: Sandbox): Promise<void> {
  for (const command of text
    .trim()
    .split('\n')
    .filter((line) => !isPath(line))) {
    show(pane, 'typed', command.replace(' || test $? = 3', ''))
    await pause(TYPING_MS / 4)
    const code = await execute(pane, command, sandbox).ended
    if (code !== 0) throw new Error(`${command} exits with ${code}`)
  }
}

async function serve(block: GuideBlock, sandbox: Sandbox): Promise<Running> {
  const command = block.text
    .trim()
    .split('\n')
    .filter((line) => !isPath(line))
    .join('\n')
  const before = lines.length
  show('server', 'typed', command)
  const running = execute('server', command, sandbox)
  await until(() => lines.slice(before).some(({ text }) => /listening on /.test(text)))
  await pause(TYPING_MS)
  return running
}

async function record(sandbox: Sandbox): Promise<void> {
  const [program, server, client, again, result] = guideBlocks(readFileSync(join(root, 'README.md'), 'utf8'))
  if (!program?.file || !server?.isServer || !client || !again?.isServer || !result)
    throw new Error('README.md has changed')
  writeFileSync(join(sandbox.cwd, program.file), program.text)
  const first = await serve(server, sandbox)
  await type('client', client, sandbox)
  await first.ended
  const second = await serve(again, sandbox)
  await type('client', result, sandbox)
  process.kill(-second.pid, 'SIGTERM')
}

/** The banner of `perdure dev`, its log and its list of requests are left out: the caption says so. */
const isShown = ({ pane, kind, text }: Line): boolean =>
  pane === 'client' || kind === 'typed' || /^listening on |^ +[▶✓…✗] |Killed/.test(text)

/** Text that differs from what a reader would see: the port, and how the shell of the recording reports the kill. */
const asSeen = (text: string, port: string): string =>
  text.replace(`127.0.0.1:${port}`, '127.0.0.1:8080').replace(/^\/.*(Killed) +/, '$1  ')

/** The lines with the time since the start, without the long pauses. */
function timed(port: string): readonly object[] {
  let at = 0
  const shown = lines.filter(isShown)
  return shown.map(({ pane, kind, text, written }, index) => {
    const since = index === 0 ? 0 : written - (shown[index - 1]?.written ?? written)
    at += Math.round(kind === 'typed' ? Math.max(since, TYPING_MS) : Math.min(since, LONGEST_PAUSE_MS))
    return { at, pane: PANES[pane], kind, text: asSeen(text, port) }
  })
}

const workdir = mkdtempSync(join(tmpdir(), 'perdure-recording-'))
const port = String(await unusedPort())
const sandbox: Sandbox = {
  cwd: join(workdir, 'refund'),
  env: {
    ...process.env,
    HOME: workdir,
    PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}`,
    PERDURE_SERVER_PORT: port,
    NO_COLOR: '1',
  },
}
try {
  mkdirSync(sandbox.cwd)
  copyFileSync(join(root, 'README.md'), join(sandbox.cwd, 'README.md'))
  writeFileSync(join(sandbox.cwd, 'package.json'), '{ "type": "module" }\n')
  linkPackages(join(sandbox.cwd, 'node_modules'))
  await record(sandbox)
  const caption =
    'The program below is killed after the payment, and pays once. The banner, the log and longer pauses are cut.'
  mkdirSync(join(TARGET, '..'), { recursive: true })
  writeFileSync(
    TARGET,
    `${JSON.stringify({ caption, panes: Object.values(PANES), lines: timed(port) }, undefined, 2)}\n`,
  )
} finally {
  removeFolder(workdir)
}
