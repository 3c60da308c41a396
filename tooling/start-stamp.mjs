// Decides whether `npm start` has to install or build again. Without dependencies, for Node >= 18, like run.mjs.
// Asking the package manager takes 5.6 s even when nothing has changed, which looks like slow recovery after a crash. The
// stamp does not notice a file that is changed inside an installed package.
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** In node_modules, so that it disappears together with the installed packages. */
const stampFile = (root) => join(root, 'node_modules/.cache/perdure-start.json')

const WORKSPACES = ['packages', 'apps', 'examples', 'bench', 'e2e', 'tooling']
const SOURCES = [...WORKSPACES.slice(0, 2), 'tooling/build', 'deploy']
const SKIPPED = new Set(['node_modules', 'dist', '.turbo', '.graphorin'])
/** Written by the build, but no server reads them. */
const DOCUMENTS = 'packages/perdure/docs'

/** What install and build read: the versions of the tools, the root files, and every source. */
export function sourcesOf(root) {
  const files = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:json|ya?ml)$/.test(entry.name))
    .map(({ name }) => name)
  const tools = [process.version, process.platform, process.arch]
  return digestOf([
    ...tools,
    ...files.map((name) => lineOf(root, name)),
    ...SOURCES.flatMap((path) => linesBelow(root, path, SKIPPED)),
  ])
}

/** What install and build write: the installed packages, by their links, and every built file. */
function outputsOf(root) {
  const manifests = WORKSPACES.flatMap((path) => [
    path,
    ...foldersIn(join(root, path)).map((name) => `${path}/${name}`),
  ])
  const modules = ['.', ...manifests].flatMap((path) =>
    modulesOf(root, path === '.' ? 'node_modules' : `${path}/node_modules`),
  )
  const built = foldersIn(join(root, 'packages')).map((name) => `packages/${name}/dist`)
  return digestOf([...modules, ...[...built, 'apps/cli/dist'].flatMap((path) => linesBelow(root, path, new Set()))])
}

/** Whether the last successful build of `markBuilt` is still what is on the disk. */
export function isBuilt(root) {
  try {
    const { sources, outputs } = JSON.parse(readFileSync(stampFile(root), 'utf8'))
    return sources === sourcesOf(root) && outputs === outputsOf(root)
  } catch {
    return false
  }
}

/** Call it after a build with the `sourcesOf` from before the build; a source that changed meanwhile leaves no stamp. */
export function markBuilt(root, sources) {
  if (sources !== sourcesOf(root)) return
  mkdirSync(join(root, 'node_modules/.cache'), { recursive: true })
  writeFileSync(stampFile(root), JSON.stringify({ sources, outputs: outputsOf(root) }))
}

const digestOf = (lines) => createHash('sha256').update(lines.join('\n')).digest('hex')

/** A change of the content always changes the size or one of the times. */
function lineOf(root, path) {
  const { size, mtimeMs, ctimeMs } = lstatSync(join(root, path))
  return `${path} ${size} ${mtimeMs} ${ctimeMs}`
}

function linesBelow(root, path, skipped) {
  return entriesOf(join(root, path)).flatMap((entry) => {
    const below = `${path}/${entry.name}`
    if (skipped.has(entry.name) || below === DOCUMENTS) return []
    return entry.isDirectory() ? linesBelow(root, below, skipped) : [lineOf(root, below)]
  })
}

/** The entries of a node_modules folder, which are links, and those of its scopes. */
function modulesOf(root, path) {
  const entries = entriesOf(join(root, path)).filter(({ name }) => name !== '.cache' && !name.startsWith('.vite'))
  return entries.map((entry) => {
    const names = entry.name.startsWith('@') || entry.name === '.bin' ? entriesOf(join(root, path, entry.name)) : []
    return `${path}/${entry.name} ${names.map(({ name }) => name).join(' ')}`
  })
}

const foldersIn = (path) =>
  entriesOf(path)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)

function entriesOf(path) {
  try {
    return readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}
