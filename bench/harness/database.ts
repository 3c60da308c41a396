import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres, type TestPostgres } from '../../tooling/postgres-server.ts'
import { cpuMicrosOf } from './server-process.ts'

/** Like the default settings of Debian, but with a cache that holds the data of a case. */
const SETTINGS = ['fsync=on', 'full_page_writes=on', 'shared_buffers=256MB']

/** Runs `work` with a PostgreSQL server of its own, which flushes each commit to the disk. */
export async function withDatabase<T>(
  work: (server: TestPostgres) => Promise<T>,
  settings: readonly string[] = [],
): Promise<T> {
  const server = await startPostgres(undefined, { settings: [...SETTINGS, ...settings] })
  try {
    return await work(server)
  } finally {
    server.remove()
  }
}

/** Processor time of the database server so far, in microseconds. Sessions that have ended do not count. */
export function databaseCpuMicros({ socketFolder }: TestPostgres): number {
  const [postmaster = ''] = readFileSync(join(socketFolder, 'data', 'postmaster.pid'), 'utf8').split('\n')
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ')
  return children.reduce((sum, pid) => sum + cpuMicrosOf(Number(pid)), 0)
}

/** The environment in which Perdure stores everything in this database. */
export const onDatabase = ({ url }: TestPostgres): Readonly<Record<string, string>> => ({
  PERDURE_STORAGE_KIND: 'postgres',
  PERDURE_STORAGE_URL_REF: 'env:BENCH_DATABASE_URL',
  BENCH_DATABASE_URL: url,
  PERDURE_AUTH_PEPPER_REF: 'env:BENCH_PEPPER',
  BENCH_PEPPER: 'p'.repeat(40),
})
