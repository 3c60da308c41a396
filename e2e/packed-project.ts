import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isOwnPackage, type Manifest, type Packed, rootManifest } from '../tooling/consumer/packages.ts'
import { consumerEnvironment, type Installer, type Ran, run } from './consumer-project.ts'

/** A folder outside the workspace in which commands run without settings of this repository. */
export interface Folder {
  readonly dir: string
  readonly env: NodeJS.ProcessEnv
  /** Rejects with its output when the command fails. */
  exec(command: string, ...args: readonly string[]): Promise<Ran>
}

export function createFolder(): Folder {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-project-')))
  return folderAt(folder, consumerEnvironment(join(folder, '.home')))
}

export const folderAt = (dir: string, env: NodeJS.ProcessEnv): Folder => ({
  dir,
  env,
  exec: (command, ...args) => run(command, args, { cwd: dir, env }) as Promise<Ran>,
})

/**
 * Installs the dependencies that the package.json of a project names, and nothing beside them: where it names a package of
 * this repository, and where such a package needs another one, its tarball is installed.
 */
export async function installProject(
  { dir, exec }: Folder,
  { packed, installer }: { readonly packed: readonly Packed[]; readonly installer: Installer },
): Promise<void> {
  const path = join(dir, 'package.json')
  const manifest: Manifest = JSON.parse(readFileSync(path, 'utf8'))
  const tarballs = Object.fromEntries(packed.map(({ manifest: { name }, tarball }) => [name, `file:${tarball}`]))
  const named = Object.entries(manifest.dependencies ?? {})
  const dependencies = Object.fromEntries(
    named.map(([name, range]) => [name, isOwnPackage(name) ? tarballs[name] : range]),
  )
  const others = Object.fromEntries(Object.entries(tarballs).filter(([name]) => !(name in dependencies)))
  const overrides = installer === 'npm' ? { overrides: others } : {}
  writeFileSync(path, JSON.stringify({ ...manifest, dependencies, ...overrides }, null, 2))
  if (installer === 'npm') {
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
    await exec('npm', 'install', '--ignore-scripts', ...quiet)
    return
  }
  const lines = Object.entries(tarballs).map(([name, range]) => `  "${name}": "${range}"`)
  writeFileSync(join(dir, 'pnpm-workspace.yaml'), `overrides:\n${lines.join('\n')}\n`)
  await exec('npx', '-y', rootManifest.packageManager, 'install', '--ignore-scripts', '--prefer-offline')
}
