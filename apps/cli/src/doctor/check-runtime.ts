import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Finding, failFrom, ok } from './finding.ts'

export const checkNode = (): Finding =>
  ok('node', `Node.js ${process.versions.node} on ${process.platform} ${process.arch}`)

/** Opens, migrates and closes a database in a temporary folder, to check that the native driver loads and works. */
export async function checkSqlite(): Promise<Finding> {
  const dir = await mkdtemp(join(tmpdir(), 'perdure-doctor-'))
  try {
    const { openSqliteStorage } = await import('@perdure/sqlite')
    const storage = await openSqliteStorage({ path: join(dir, 'probe.db') })
    await storage.close()
    return ok('sqlite', 'the driver loads and can write a database')
  } catch (error) {
    return failFrom('sqlite', error, 'reinstall the packages with this version of Node.js')
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
