import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isOwnPackage, type Manifest } from '../consumer/packages.ts'
import { tarballsIn } from './publish.ts'

/** Lower than every released version. */
export const EARLIER = '0.0.1'

/**
 * Writes the packages in `from` again, with another version, to `to`. They stand for the previous release in an upgrade:
 * the same code, but every range and every installed file differs.
 */
export function packAsEarlier(from: string, to: string): void {
  for (const { path } of tarballsIn(from)) {
    const folder = join(to, basename(path, '.tgz'))
    mkdirSync(folder, { recursive: true })
    execFileSync('tar', ['-xzf', path, '-C', folder])
    const file = join(folder, 'package/package.json')
    const manifest: Manifest = JSON.parse(readFileSync(file, 'utf8'))
    const ranges = Object.entries(manifest.dependencies ?? {}).map(([name, range]) => [
      name,
      isOwnPackage(name) ? `^${EARLIER}` : range,
    ])
    writeFileSync(file, JSON.stringify({ ...manifest, version: EARLIER, dependencies: Object.fromEntries(ranges) }))
    execFileSync('tar', ['-czf', `${folder}.tgz`, '-C', folder, 'package'])
    rmSync(folder, { recursive: true })
  }
}
