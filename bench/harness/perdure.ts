import { join } from 'node:path'
import { type ServerProcess, startProcess } from './server-process.ts'

const BINARY = join(import.meta.dirname, '../../apps/cli/bin/perdure.js')
const CONFIG = join(import.meta.dirname, '../perdure.config.mjs')

export interface PerdureOptions {
  readonly folder: string
  readonly env?: Readonly<Record<string, string>>
  /** Command line to put before the binary, such as a tracer. */
  readonly command?: readonly string[]
}

/** Starts the binary on a database in the folder. */
export const startPerdure = ({ folder, env = {}, command }: PerdureOptions): Promise<ServerProcess> =>
  startProcess({
    ...(command === undefined ? {} : { command }),
    args: [BINARY, 'server', '--config', CONFIG],
    env: { PERDURE_STORAGE_PATH: join(folder, 'data.db'), ...env },
  })

export const RUN = '/v1/agents/echo/run'
export const JSON_HEADERS = { 'Content-Type': 'application/json' }
export const RUN_BODY = JSON.stringify({ input: { text: 'hello' } })
