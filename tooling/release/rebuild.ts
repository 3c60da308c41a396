import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { packages, pnpm, root } from '../consumer/packages.ts'

const execute = promisify(execFile)

/**
 * Copies the files of this repository to another folder, installs there, and builds every package again. The declarations
 * are those of this folder: `tsc` writes the same ones everywhere, and would take most of the time.
 */
export async function rebuildIn(copy: string): Promise<void> {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  for (const path of list
    .split('\0')
    .filter((one) => /^(?:packages|apps|deploy|docs|tooling|bench|examples)\/|^[^/]+$/.test(one))) {
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    cpSync(join(root, path), join(copy, path))
  }
  for (const { folder } of packages) {
    cpSync(join(root, folder, 'dist/.tsc'), join(copy, folder, 'dist/.tsc'), { recursive: true })
  }
  pnpm(['install', '--frozen-lockfile', '--prefer-offline', '--loglevel=warn'], copy)
  const env = { ...process.env, PATH: [join(copy, 'node_modules/.bin'), process.env.PATH].join(delimiter) }
  for (const { folder, manifest } of packages) {
    const build = manifest.scripts?.build?.replace('tsc -b && ', '') ?? ''
    await execute('sh', ['-c', build], { cwd: join(copy, folder), env })
  }
}
