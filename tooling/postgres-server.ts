import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { toolPath, URL_VARIABLE } from './machine-tools.ts'
import { serverUser } from './postgres-programs.ts'

/** Set by `postgres-setup.ts`: the folder of the server that all test files of a run share. */
export const SHARED_FOLDER = 'TEST_POSTGRES_FOLDER'

/** Binaries of a newer server than the distribution has, on which one suite is executed again. */
export const newestBinaries = (): string => toolPath('PostgreSQL 18')

/** The server that all test files share. Started at the first call; stopped at the end of the run. */
export async function sharedPostgres(): Promise<string> {
  const given = process.env[URL_VARIABLE]
  if (given !== undefined) return given
  const folder = process.env[SHARED_FOLDER]
  if (folder === undefined) throw new Error(`${SHARED_FOLDER} is not set: tooling/postgres-setup.ts did not run`)
  const answer = join(folder, 'answer')
  if (isFirst(join(folder, 'starting'))) {
    const started = await startPostgres(join(folder, 'server')).catch((error: unknown) => ({
      url: '',
      problem: String(error),
    }))
    writeFileSync(`${answer}.new`, JSON.stringify(started))
    renameSync(`${answer}.new`, answer)
  }
  while (!existsSync(answer)) await sleep(50)
  const { url, problem } = JSON.parse(readFileSync(answer, 'utf8')) as { url: string; problem?: string }
  if (problem !== undefined) throw new Error(problem)
  return url
}

export interface TestPostgres {
  readonly url: string
  /** The folder of the Unix socket. */
  readonly socketFolder: string
  /** Kills the server like a crash, or lets it finish its transactions. */
  stop(mode: 'immediate' | 'fast'): void
  start(): Promise<void>
  /** Makes a standby the primary. */
  promote(): void
  /** Stops the server and deletes its data. */
  remove(): void
}

/** Starts a server with an empty database on the loopback interface. */
export async function startPostgres(
  folder = mkdtempSync(join(tmpdir(), 'perdure-postgres-')),
  { settings = [], binaries }: ServerChoice = {},
): Promise<TestPostgres> {
  prepareFolder(folder)
  const init = ['-U', 'perdure', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']
  runProgram(programPath('initdb', binaries), ['-D', join(folder, 'data'), ...init], folder)
  return serve(folder, { settings, binaries })
}

interface ServerChoice {
  readonly settings?: readonly string[]
  /** The folder with the programs of the server. */
  readonly binaries?: string | undefined
}

/** Starts a standby that follows the server of the URL. */
export async function startStandby(url: string, settings: readonly string[] = []): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-postgres-'))
  prepareFolder(folder)
  const args = ['-D', join(folder, 'data'), '-R', '--checkpoint=fast', '-d', url]
  runProgram(toolPath('pg_basebackup'), args, folder)
  return serve(folder, { settings })
}

async function serve(folder: string, { settings: more = [], binaries }: ServerChoice = {}): Promise<TestPostgres> {
  const data = join(folder, 'data')
  const port = await freePort()
  const start = async () => {
    const log = openSync(join(folder, 'log'), 'a')
    const settings = [...SETTINGS, `unix_socket_directories=${folder}`, ...more]
    const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
    const server = spawn(programPath('postgres', binaries), args, {
      ...serverIds(),
      detached: true,
      stdio: ['ignore', log, log],
      cwd: data,
    })
    server.unref()
    closeSync(log)
    await untilReady(folder, server.pid)
  }
  const stop = (mode: 'immediate' | 'fast') => stopServer(data, mode, binaries)
  await start()
  const remove = () => {
    stop('immediate')
    rmSync(folder, { recursive: true, force: true })
  }
  const url = `postgres://perdure@127.0.0.1:${port}/postgres?sslmode=disable`
  const promote = () => runProgram(programPath('pg_ctl', binaries), ['-D', data, '-w', 'promote'], data)
  return { url, socketFolder: folder, start, stop, promote, remove }
}

/** Stops the server of a data folder, if it runs. */
export function stopServer(data: string, mode: 'immediate' | 'fast', binaries?: string): void {
  if (!existsSync(join(data, 'postmaster.pid'))) return
  execFileSync(programPath('pg_ctl', binaries), ['-D', data, '-w', '-m', mode, 'stop'], {
    ...serverIds(),
    stdio: 'ignore',
    cwd: data,
  })
}

/** Tests stop the server, never the machine, so nothing has to reach the disk. */
const SETTINGS = ['fsync=off', 'full_page_writes=off', 'listen_addresses=127.0.0.1', 'max_connections=200']

function prepareFolder(folder: string): void {
  const { uid, gid } = serverIds()
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o755)
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
}

function runProgram(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(program, args, { ...serverIds(), encoding: 'utf8', cwd })
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`, { cause: error })
}

const programPath = (name: string, binaries = dirname(toolPath('postgres'))): string => join(binaries, name)

function serverIds(): { readonly uid?: number; readonly gid?: number } {
  const user = serverUser()
  if (user === 'self') return {}
  if (user === 'none') throw new Error('the server refuses to run as root, and there is no user postgres')
  return user
}

/** The line of `postmaster.pid` that tells whether the server accepts connections. */
const STATUS_LINE = 7

async function untilReady(folder: string, pid: number | undefined): Promise<void> {
  for (let waited = 0; waited < 60_000; waited += 50) {
    if (isReady(join(folder, 'data', 'postmaster.pid'), pid)) return
    await sleep(50)
  }
  throw new Error(`PostgreSQL did not start: ${readFileSync(join(folder, 'log'), 'utf8').slice(-2_000)}`)
}

function isReady(file: string, pid: number | undefined): boolean {
  if (!existsSync(file)) return false
  const lines = readFileSync(file, 'utf8').split('\n')
  return Number(lines[0]) === pid && lines[STATUS_LINE]?.trim() === 'ready'
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })

function isFirst(marker: string): boolean {
  try {
    mkdirSync(marker)
    return true
  } catch {
    return false
  }
}
