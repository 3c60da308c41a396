import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sbomOf } from './sbom.ts'

/** A package of `node_modules`, or of this repository. */
const FOLDER = /^.*node_modules\/(?!\.pnpm)(?:@[^/]+\/)?[^/]+|^.*\/(?:packages|apps)\/[^/]+(?=\/)/

/** The folders of the packages that contain these modules. */
export const packageFolders = (moduleIds: readonly string[]): readonly string[] =>
  [...new Set(moduleIds.flatMap((id) => FOLDER.exec(id)?.[0] ?? []))].toSorted()

/** Returns the licences of all third-party packages that contain one of these modules. */
const noticesOf = (moduleIds: readonly string[]): string =>
  packageFolders(moduleIds)
    .filter((folder) => folder.includes('node_modules/'))
    .map(noticeOf)
    .join('\n')

function noticeOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const [scope] = name.split('/')
  const text = licenceIn(folder) ?? licenceIn(join(MODULES, LICENSED_WITH[scope] ?? name))
  if (text === undefined) throw new Error(`${name} is bundled, but has no file with its licence: ${folder}`)
  return `${'-'.repeat(80)}\n${name} ${version} (${license})\n\n${text}`
}

const MODULES = join(import.meta.dirname, '../../node_modules')

/** Packages that leave their licence out, by scope, with a package of the same repository that has it. */
const LICENSED_WITH: Readonly<Record<string, string>> = { '@ai-sdk': 'ai' }

function licenceIn(folder: string): string | undefined {
  const file = existsSync(folder) ? readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry)) : undefined
  return file === undefined ? undefined : readFileSync(join(folder, file), 'utf8')
}

export interface SupplyFiles {
  /** The folder with the manifest of the package. */
  readonly folder: string
  /** A folder that sees the dependencies of the package; default: the package. */
  readonly from?: string
  /** Where the licences are written, unless nothing of others is bundled. */
  readonly notices: string
  /** Where the bill of materials is written. */
  readonly sbom: string
}

/** Writes which packages are in the bundles of a package, and their licences. */
export function writeSupplyFiles({ folder, from, notices, sbom }: SupplyFiles, moduleIds: readonly string[]): void {
  const text = noticesOf(moduleIds)
  if (text !== '') writeFileSync(notices, text)
  writeFileSync(sbom, `${JSON.stringify(sbomOf(folder, moduleIds, from), null, 1)}\n`)
}
