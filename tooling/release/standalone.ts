import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type OutputChunk, rolldown } from 'rolldown'
import { type Manifest, packages, root, rootManifest } from '../consumer/packages.ts'

/** What cannot be part of a bundle: a native module, and the optional ones that a user adds. */
const NATIVE = ['better-sqlite3']
const OPTIONAL = ['better-sqlite3-multiple-ciphers', '@napi-rs/keyring']

const folderOf = (name: string): string =>
  join(root, packages.find(({ manifest }) => manifest.name === name)?.folder ?? '')
const manifestOf = (path: string): Manifest => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
const cli = folderOf('@berth/cli')
const { version } = manifestOf(cli)

/**
 * Packs the command with everything it loads but the native module into one tarball, for `npx` and for images. The packages
 * must be built. Their relative addresses hold: chunks lie two folders below the templates, like the commands, and beside
 * them what a process or a thread of its own begins with.
 */
export async function packStandalone(to: string): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), 'berth-standalone-'))
  const chunks = await bundle(join(place, 'dist/bundle'))
  for (const part of ['bin', 'templates', 'dist/deploy'])
    cpSync(join(cli, part), join(place, part), { recursive: true })
  for (const part of ['LICENSE']) cpSync(join(root, part), join(place, part))
  cpSync(join(cli, 'README.md'), join(place, 'README.md'))
  cpSync(join(cli, 'dist/compile-cache.js'), join(place, 'dist/compile-cache.js'))
  writeFileSync(join(place, 'dist/main.js'), "export { main } from './bundle/main.js'\n")
  writeFileSync(join(place, 'dist/package.json'), JSON.stringify({ version, type: 'module' }))
  writeFileSync(join(place, 'THIRD-PARTY-LICENSES'), licencesOf(chunks))
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest(), null, 2))
  mkdirSync(to, { recursive: true })
  const name = execFileSync('npm', ['pack', '--silent', '--pack-destination', to], { cwd: place, encoding: 'utf8' })
  rmSync(place, { recursive: true, force: true })
  return join(to, name.trim())
}

async function bundle(dir: string): Promise<readonly OutputChunk[]> {
  const build = await rolldown({
    input: {
      main: join(cli, 'dist/main.js'),
      'dev-server': join(cli, 'dist/dev/dev-server.js'),
      'parent-watch': join(cli, 'dist/dev/parent-watch.js'),
      'storage-worker': join(folderOf('@berth/sqlite'), 'dist/host/storage-worker.js'),
    },
    platform: 'node',
    external: [...NATIVE, ...OPTIONAL],
    resolve: { conditionNames: ['import', 'module', 'node', 'default'] },
    logLevel: 'silent',
  })
  const { output } = await build.write({ dir, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name].js' })
  await build.close()
  return output.filter((one) => one.type === 'chunk')
}

function manifest(): object {
  const { dependencies = {} } = manifestOf(folderOf('@berth/sqlite'))
  const catalog = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
  const rangeOf = (name: string): string => new RegExp(`^  "?${name}"?: (\\S+)$`, 'm').exec(catalog)?.[1] ?? '*'
  const ranges = NATIVE.filter((name) => name in dependencies).map((name) => [name, rangeOf(name)])
  const { license, engines, repository } = rootManifest
  return {
    ...{ name: '@berth/standalone', version, license, repository, engines, type: 'module' },
    description: 'The berth command with all it needs but the native storage driver.',
    bin: { berth: './bin/berth.js' },
    files: ['bin', 'dist', 'templates', 'THIRD-PARTY-LICENSES'],
    exports: {},
    dependencies: Object.fromEntries(ranges),
    peerDependencies: Object.fromEntries(OPTIONAL.map((name) => [name, rangeOf(name)])),
    peerDependenciesMeta: Object.fromEntries(OPTIONAL.map((name) => [name, { optional: true }])),
  }
}

/** The licence of every package whose code is in the bundle. */
function licencesOf(chunks: readonly OutputChunk[]): string {
  const folders = chunks
    .flatMap(({ moduleIds }) => moduleIds)
    .flatMap((id) => /^.*node_modules\/(?!\.pnpm)(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? [])
  return [...new Set(folders)].sort().map(noticeOf).join('\n')
}

function noticeOf(folder: string): string {
  const { name, version: own, license } = manifestOf(folder)
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8')
  return `${'-'.repeat(80)}\n${name} ${own} (${license})\n\n${text}`
}

if (process.argv[1] === import.meta.filename) console.log(await packStandalone(join(root, 'dist')))
