import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'rolldown'
import { planBundles } from '../build/bundle.ts'
import { type Component, DELIVERY, type Sbom } from '../build/sbom.ts'
import { type Manifest, packages, root, rootManifest } from '../consumer/packages.ts'

/** Packages that cannot be bundled: a native module, and optional ones that users install themselves. */
const NATIVE = ['better-sqlite3']
const OPTIONAL = ['better-sqlite3-multiple-ciphers', '@napi-rs/keyring']

const folderOf = (name: string): string =>
  join(root, packages.find(({ manifest }) => manifest.name === name)?.folder ?? '')
const manifestOf = (path: string): Manifest => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
const cli = folderOf('@perdure/cli')
const { version } = manifestOf(cli)

/**
 * Packs the command with everything it loads, except the native module, into one tarball for `npx` and container
 * images. Bundles from the sources; run the build first only for the files of `perdure deploy print` and of the console.
 */
export async function packStandalone(to: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-standalone-'))
  for (const part of ['bin', 'dist/deploy']) cpSync(join(cli, part), join(folder, part), { recursive: true })
  cpSync(join(folderOf('create-perdure'), 'templates'), join(folder, 'templates'), { recursive: true })
  cpSync(join(folderOf('@perdure/console'), 'dist/page'), join(folder, 'dist/page'), { recursive: true })
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  cpSync(join(cli, 'README.md'), join(folder, 'README.md'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest(), null, 2))
  await bundle(folder)
  mkdirSync(to, { recursive: true })
  const name = execFileSync('npm', ['pack', '--silent', '--pack-destination', to], { cwd: folder, encoding: 'utf8' })
  rmSync(folder, { recursive: true, force: true })
  return join(to, name.trim())
}

async function bundle(folder: string): Promise<void> {
  const external = [...NATIVE, ...OPTIONAL]
  const plans = planBundles({
    entries: ['main.ts', 'compile-cache.ts', 'dev/dev-server.ts'].map((file) => join(cli, 'src', file)),
    threads: [
      join(cli, 'src/dev/parent-watch.ts'),
      join(folderOf('@perdure/sqlite'), 'src/host/storage-worker.ts'),
      join(folderOf('@perdure/platform-node'), 'src/watchdog/watchdog-thread.ts'),
    ],
    external,
    externalOfThreads: external,
    dir: join(folder, 'dist'),
    supply: {
      folder,
      from: folderOf('@perdure/sqlite'),
      notices: join(folder, 'THIRD-PARTY-LICENSES'),
      sbom: join(folder, 'sbom.cdx.json'),
    },
  })
  await build(plans.map((options) => ({ ...options, logLevel: 'silent' as const })))
  const console = join(folderOf('@perdure/console'), 'dist')
  appendFileSync(join(folder, 'THIRD-PARTY-LICENSES'), readFileSync(join(console, 'THIRD-PARTY-LICENSES')))
  addBundled(join(folder, 'sbom.cdx.json'), join(console, 'sbom.cdx.json'))
}

/** Adds what a bundled page contains to a bill of materials. */
function addBundled(path: string, ofPage: string): void {
  const read = (file: string): Sbom => JSON.parse(readFileSync(file, 'utf8'))
  const [sbom, { metadata, components }] = [read(path), read(ofPage)]
  const known = new Set(sbom.components.map(({ purl }) => purl))
  const page: Component = { ...metadata.component, properties: [{ name: DELIVERY, value: 'bundled' }] }
  const more = [page, ...components].filter(({ purl }) => !known.has(purl))
  writeFileSync(path, `${JSON.stringify({ ...sbom, components: [...sbom.components, ...more] }, null, 1)}\n`)
}

function manifest(): object {
  const { dependencies = {} } = manifestOf(folderOf('@perdure/sqlite'))
  const catalog = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
  const rangeOf = (name: string): string => new RegExp(`^  "?${name}"?: (\\S+)$`, 'm').exec(catalog)?.[1] ?? '*'
  const ranges = NATIVE.filter((name) => name in dependencies).map((name) => [name, rangeOf(name)])
  const { license, engines, repository } = rootManifest
  return {
    ...{ name: '@perdure/standalone', version, license, repository, engines, type: 'module' },
    description: 'The perdure command, bundled with everything except the native storage driver.',
    bin: { perdure: './bin/perdure.js' },
    files: ['bin', 'dist', '!dist/**/*.map', 'templates', 'THIRD-PARTY-LICENSES', 'sbom.cdx.json'],
    exports: {},
    dependencies: Object.fromEntries(ranges),
    peerDependencies: Object.fromEntries(OPTIONAL.map((name) => [name, rangeOf(name)])),
    peerDependenciesMeta: Object.fromEntries(OPTIONAL.map((name) => [name, { optional: true }])),
  }
}

if (process.argv[1] === import.meta.filename) console.log(await packStandalone(join(root, 'dist')))
