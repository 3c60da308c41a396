import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SHARED_FOLDER, stopServer } from './postgres-server.ts'

/** Names the folder in which the first test file that needs PostgreSQL starts the server, and stops it at the end. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-postgres-'))
  chmodSync(folder, 0o755)
  process.env[SHARED_FOLDER] = folder
  return () => {
    stopServer(join(folder, 'server', 'data'), 'immediate')
    rmSync(folder, { recursive: true, force: true })
  }
}
