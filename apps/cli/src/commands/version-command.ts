import type { CommandContext } from '../command-context.ts'
import { writeDocument } from '../terminal.ts'
import { readVersion } from '../version.ts'

export function versionCommand({ terminal }: CommandContext, { json }: { readonly json?: boolean }): void {
  const version = readVersion()
  if (json)
    writeDocument(terminal, { version, node: process.versions.node, platform: process.platform, arch: process.arch })
  else terminal.stdout.write(`berth ${version}\n`)
}
