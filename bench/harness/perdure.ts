import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ServerProcess, startProcess } from './server-process.ts'

export const BINARY = join(import.meta.dirname, '../../apps/cli/bin/perdure.js')
const CONFIG = join(import.meta.dirname, '../perdure.config.mjs')
const SHIPPED_CONFIG = join(import.meta.dirname, '../shipped.config.mjs')

export interface PerdureOptions {
  readonly folder: string
  readonly env?: Readonly<Record<string, string>>
  /** Command line to put before the binary, such as a tracer. */
  readonly command?: readonly string[]
  /** Where the server runs and logs, as in `Start`. */
  readonly cpus?: string | undefined
  readonly logFile?: string | undefined
}

/** Starts the binary on a database in the folder, unless the environment names another storage. */
export const startPerdure = ({ folder, env = {}, command }: PerdureOptions): Promise<ServerProcess> =>
  startProcess({
    ...(command === undefined ? {} : { command }),
    args: [BINARY, 'server', '--config', CONFIG],
    env: { ...('PERDURE_STORAGE_KIND' in env ? {} : { PERDURE_STORAGE_PATH: join(folder, 'data.db') }), ...env },
  })

/** Encrypted audit entries, in a file of the folder. */
export const auditEnv = (folder: string) => ({
  PERDURE_AUDIT_ENABLED: 'true',
  PERDURE_AUDIT_PATH: join(folder, 'audit.db'),
  PERDURE_AUDIT_PASSPHRASE_REF: 'env:BENCH_PASSPHRASE',
  BENCH_PASSPHRASE: 'bench passphrase of at least thirty-two bytes',
  PERDURE_AUDIT_KEY_REF: 'env:BENCH_AUDIT_KEY',
  BENCH_AUDIT_KEY: 'bench key of at least thirty-two bytes',
})

export interface ShippedPerdure {
  readonly server: ServerProcess
  /** Headers of a request, with a token. */
  readonly headers: Readonly<Record<string, string>>
}

/** Starts the binary with its default configuration: it checks a token, and logs into a file. */
export async function startShipped({ folder, env: given, cpus }: PerdureOptions): Promise<ShippedPerdure> {
  const env = { PERDURE_STORAGE_PATH: join(folder, 'data.db'), BENCH_PEPPER: 'p'.repeat(40), ...given }
  const token = ['token', 'create', '--name', 'bench', '--scopes', 'admin:*', '--json', '--config', SHIPPED_CONFIG]
  const { stdout } = await promisify(execFile)(process.execPath, [BINARY, ...token], {
    env: { ...process.env, ...env },
  })
  const args = [BINARY, 'server', '--json', '--config', SHIPPED_CONFIG]
  const server = await startProcess({ args, env, cpus, logFile: join(folder, 'server.log') })
  const authorization = `Bearer ${(JSON.parse(stdout) as { readonly token: string }).token}`
  return { server, headers: { ...JSON_HEADERS, Authorization: authorization } }
}

export const RUN = '/v1/agents/echo/run'
/** The same with `onCrash: 'retry'`. */
export const RETRY_RUN = '/v1/agents/retry/run'
export const JSON_HEADERS = { 'Content-Type': 'application/json' }
export const RUN_BODY = JSON.stringify({ input: { text: 'hello' } })
