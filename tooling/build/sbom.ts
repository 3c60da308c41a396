import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageFolders } from './notices.ts'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly license: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** How a component reaches the user: inside the tarball, or installed with it. */
type Delivery = 'bundled' | 'installed'

export interface Component {
  readonly type: 'library'
  readonly 'bom-ref': string
  readonly name: string
  readonly group?: string
  readonly version: string
  readonly description?: string
  readonly licenses: readonly [{ readonly license: { readonly id: string } }]
  readonly purl: string
  readonly properties?: readonly [{ readonly name: typeof DELIVERY; readonly value: Delivery }]
}

/** A software bill of materials in the format CycloneDX 1.6. */
export interface Sbom {
  readonly $schema: string
  readonly bomFormat: 'CycloneDX'
  readonly specVersion: '1.6'
  readonly version: 1
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

export const DELIVERY = 'perdure:delivery'

const readManifest = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/**
 * Returns the bill of materials of the package in `folder`. It lists the packages whose modules its files contain, and those
 * that are installed with it, in the versions with which it was built. It has neither a time nor a serial number, so that
 * two builds write the same bytes.
 *
 * @param from a folder that sees the dependencies of the package in its `node_modules`
 */
export function sbomOf(folder: string, moduleIds: readonly string[], from = folder): Sbom {
  const manifest = readManifest(folder)
  const installed = new Map<string, readonly string[]>()
  const follow = (at: string, { dependencies = {}, optionalDependencies = {} }: Manifest): readonly string[] =>
    Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => {
      const found = installedFolder(name, at)
      if (found === undefined && name in optionalDependencies) return []
      if (found === undefined) throw new Error(`${name} is not installed`)
      if (!installed.has(found)) {
        installed.set(found, [])
        installed.set(found, follow(found, readManifest(found)))
      }
      return found
    })
  const direct = follow(from, manifest)
  const bundled = packageFolders(moduleIds).filter((one) => readManifest(one).name !== manifest.name)
  const refOf = (one: string) => purlOf(readManifest(one))
  const sorted = (folders: readonly string[]) => [...new Set(folders.map(refOf))].toSorted()
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: toComponent(manifest) },
    components: [
      ...bundled.map((one) => toComponent(readManifest(one), 'bundled')),
      ...[...installed.keys()]
        .filter((one) => !bundled.includes(one))
        .map((one) => toComponent(readManifest(one), 'installed')),
    ].toSorted((a, b) => (a.purl < b.purl ? -1 : 1)),
    dependencies: [
      { ref: purlOf(manifest), dependsOn: sorted([...direct, ...bundled]) },
      ...[...installed].map(([one, needed]) => ({ ref: refOf(one), dependsOn: sorted(needed) })),
    ].toSorted((a, b) => (a.ref < b.ref ? -1 : 1)),
  }
}

function toComponent({ name, version, description, license }: Manifest, delivery?: Delivery): Component {
  const [, group, own = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? []
  return {
    type: 'library',
    'bom-ref': purlOf({ name, version }),
    ...(group === undefined ? {} : { group }),
    name: own,
    version,
    ...(description === undefined || delivery !== undefined ? {} : { description }),
    licenses: [{ license: { id: license } }],
    purl: purlOf({ name, version }),
    ...(delivery === undefined ? {} : { properties: [{ name: DELIVERY, value: delivery }] }),
  }
}

const purlOf = ({ name, version }: Pick<Manifest, 'name' | 'version'>): string =>
  `pkg:npm/${name.replace('@', '%40')}@${version}`

/** Finds a package as Node.js does: in the nearest `node_modules` upwards. */
function installedFolder(name: string, from: string): string | undefined {
  const folder = join(from, 'node_modules', name)
  if (existsSync(folder)) return realpathSync(folder)
  return dirname(from) === from ? undefined : installedFolder(name, dirname(from))
}
