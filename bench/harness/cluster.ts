import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestPostgres } from '../../tooling/postgres-server.ts'
import { onDatabase, withDatabase } from './database.ts'
import { BINARY, JSON_HEADERS } from './perdure.ts'
import { inFolder, type ServerProcess, startProcess } from './server-process.ts'

const CONFIG = join(import.meta.dirname, '../cluster.config.mjs')

/** The shortest lease that the configuration permits. */
export const LEASE_MS = 3_000

/** Servers on one schema, with the headers of an administrator. */
export interface BenchCluster {
  readonly headers: Readonly<Record<string, string>>
  readonly database: TestPostgres
  start(): Promise<ServerProcess>
}

export interface ClusterChoice {
  readonly env?: Readonly<Record<string, string>>
  /** Settings of PostgreSQL in addition to those of every case. */
  readonly settings?: readonly string[]
}

/** Runs `work` with a database and a way to start servers on it. The servers that still run are stopped afterwards. */
export const withCluster = <T>(
  { env = {}, settings = [] }: ClusterChoice,
  work: (cluster: BenchCluster) => Promise<T>,
) =>
  inFolder((folder) =>
    withDatabase(async (database) => {
      const own = {
        ...onDatabase(database),
        ...{ PERDURE_STORAGE_CLUSTER: 'true', PERDURE_STORAGE_LEASE_MS: String(LEASE_MS), ...env },
      }
      const servers: ServerProcess[] = []
      const start = async () => {
        const checkpoints = join(folder, `${servers.length}.checkpoints`)
        const server = await startProcess({
          args: [BINARY, 'server', '--json', '--config', CONFIG],
          env: { ...own, PERDURE_AUDIT_CHECKPOINT_PATH: checkpoints },
        })
        servers.push(server)
        return server
      }
      const token = ['token', 'create', '--name', 'bench', '--scopes', 'admin:*', '--json', '--config', CONFIG]
      const { stdout } = await promisify(execFile)(process.execPath, [BINARY, ...token], {
        env: { ...process.env, ...own },
      })
      const authorization = `Bearer ${(JSON.parse(stdout) as { readonly token: string }).token}`
      try {
        return await work({ headers: { ...JSON_HEADERS, Authorization: authorization }, database, start })
      } finally {
        await Promise.all(servers.filter(isRunning).map((server) => server.stop('SIGKILL')))
      }
    }, settings),
  )

const isRunning = ({ process: { exitCode, signalCode } }: ServerProcess) => exitCode === null && signalCode === null

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export interface ApiAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Sends one request, which may fail, to a server. */
export async function ask(
  { port }: ServerProcess,
  path: string,
  { headers, method = 'GET', body }: { headers: Readonly<Record<string, string>>; method?: string; body?: unknown },
): Promise<ApiAnswer> {
  const response = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
}

/** The value below which this part of the sorted figures is. */
export function percentile(figures: readonly number[], part: number): number {
  const sorted = figures.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN
}
