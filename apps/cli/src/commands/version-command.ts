import type { Call } from '../call.ts'
import { readVersion } from '../version.ts'

export function versionCommand({ out }: Call): void {
  const version = readVersion()
  const { platform, arch } = process
  out.document({ version, node: process.versions.node, platform, arch }, () => `perdure ${version}\n`)
}
