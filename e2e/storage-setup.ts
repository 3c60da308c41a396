import { startPostgres } from '../tooling/postgres-server.ts'

/** With E2E_STORAGE=postgres, starts the PostgreSQL server that all sandboxes share, each with a schema of its own. */
export async function setup(): Promise<() => void> {
  if (process.env.E2E_STORAGE !== 'postgres') return () => undefined
  const server = await startPostgres()
  process.env.E2E_DATABASE_URL = server.url
  return server.remove
}
