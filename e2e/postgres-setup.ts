import { findTool } from '../tooling/machine-tools.ts'
import { startPostgres } from '../tooling/postgres-server.ts'

/**
 * Starts the PostgreSQL server that all sandboxes share, each with a schema of its own. Without an installation it starts
 * nothing: `on-postgres.test.ts` then names what is skipped.
 */
export async function setup(): Promise<() => void> {
  if (findTool('postgres') === undefined) return () => undefined
  const server = await startPostgres()
  process.env.E2E_DATABASE_URL = server.url
  return server.remove
}
