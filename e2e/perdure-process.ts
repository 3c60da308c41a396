import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..')
export const BINARY = join(root, 'apps/cli/bin/perdure.js')
export const LEDGER_CONFIG = join(import.meta.dirname, 'fixtures/ledger.config.mjs')
export const DURABLE_CONFIG = join(import.meta.dirname, 'fixtures/durable.config.mjs')
export const REALTIME_CONFIG = join(import.meta.dirname, 'fixtures/realtime.config.mjs')
export const OPS_CONFIG = join(import.meta.dirname, 'fixtures/ops.config.mjs')
export const CLIENT_CONFIG = join(import.meta.dirname, 'fixtures/client.config.mjs')

export interface Sandbox {
  readonly dir: string
  readonly env: NodeJS.ProcessEnv
  /** The command of another release; this one by default. */
  readonly binary?: string
}

/** Whether the servers under test use PostgreSQL: E2E_STORAGE=postgres. */
export const isOnPostgres = process.env.E2E_STORAGE === 'postgres'

/** Creates an empty folder with its own database, ledger path and pepper. */
export function createSandbox(over: NodeJS.ProcessEnv = {}): Sandbox {
  const dir = mkdtempSync(join(tmpdir(), 'perdure-e2e-'))
  const env = {
    ...inherited(),
    ...(isOnPostgres ? databaseOf(dir) : { PERDURE_STORAGE_PATH: join(dir, 'data.db') }),
    E2E_LEDGER: join(dir, 'ledger.txt'),
    E2E_PEPPER: 'p'.repeat(40),
    ...over,
  }
  return { dir, env }
}

/** The server warns about variables that it does not know: those of the tests. */
const inherited = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PERDURE_TEST_')))

/** An empty schema of the server that `storage-setup.ts` started. A server needs a pepper there, whatever its tokens. */
const databaseOf = (dir: string): NodeJS.ProcessEnv => ({
  PERDURE_STORAGE_KIND: 'postgres',
  PERDURE_STORAGE_URL_REF: 'env:E2E_DATABASE_URL',
  PERDURE_STORAGE_SCHEMA: `e2e_${basename(dir)
    .replaceAll(/[^a-z0-9]/gi, '')
    .toLowerCase()}_${randomBytes(4).toString('hex')}`,
  PERDURE_AUTH_PEPPER_REF: 'env:E2E_PEPPER',
})

/** Retries while exiting processes still write to the folder. */
export const removeFolder = (path: string): void => rmSync(path, { recursive: true, force: true, maxRetries: 20 })

export interface RunningServer {
  readonly url: string
  readonly process: ChildProcess
  /** Everything written to stderr so far. */
  stderr(): string
  stdout(): string
  kill(signal: NodeJS.Signals): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

/**
 * Starts the binary, through the command `wrapper` if given, and waits for the line with its address. Rejects with its
 * stderr when it exits first.
 */
export async function startServer(
  sandbox: Sandbox,
  args: readonly string[] = ['server', '--config', LEDGER_CONFIG],
  wrapper: readonly string[] = [],
): Promise<RunningServer> {
  const [command = '', ...rest] = [...wrapper, process.execPath, sandbox.binary ?? BINARY, ...args]
  const child = spawn(command, rest, {
    env: sandbox.env,
    cwd: sandbox.dir,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: wrapper.length > 0,
  })
  let stderr = ''
  let stdout = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  // `close` comes after all output has been read, unlike `exit`.
  const ended = once(child, 'close')
  const lines = createInterface({ input: child.stdout })
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      stdout += `${line}\n`
      const match = /(?:listening on|API)\s+(http:\S+)/.exec(line)
      if (match?.[1] !== undefined) resolve(match[1])
    })
    ended.then(([code]) => reject(new Error(`perdure exited with ${code} before it listened:\n${stderr}`)))
  })
  return {
    url,
    process: child,
    stderr: () => stderr,
    stdout: () => stdout,
    async kill(signal) {
      if (wrapper.length > 0 && child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal)
      else child.kill(signal)
      const [code, by] = await ended
      const undeclared = stderr.split('\n').find((line) => line.includes('undeclared error'))
      if (undeclared !== undefined) throw new Error(`an operation does not declare an error: ${undeclared}`)
      return { code, signal: by }
    },
  }
}

export interface Finished {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs one command of the binary until it exits. */
export async function perdure(sandbox: Sandbox, args: readonly string[]): Promise<Finished> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [sandbox.binary ?? BINARY, ...args], {
      env: sandbox.env,
      cwd: sandbox.dir,
    })
    return { code: 0, stdout, stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as Finished
    return { code, stdout, stderr }
  }
}

export async function createToken(
  sandbox: Sandbox,
  scopes = 'admin:*',
  subject = 'e2e',
  config = LEDGER_CONFIG,
): Promise<string> {
  const args = [
    'token',
    'create',
    '--scopes',
    scopes,
    '--name',
    'e2e',
    '--subject',
    subject,
    '--config',
    config,
    '--json',
  ]
  const { stdout, stderr, code } = await perdure(sandbox, args)
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout).token
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' })

/** The response fields that the tests read. */
export interface Body {
  readonly id: string
  readonly token: string
  readonly runId: string
  readonly status: string
  readonly finishReason: string | null
  readonly result?: unknown
  readonly running: number
  readonly error: string
}

export const bodyOf = async (response: Response | Promise<Response>): Promise<Body> =>
  (await (await response).json()) as Body
