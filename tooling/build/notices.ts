import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the licences of all third-party packages that contain one of these modules. */
export function noticesOf(moduleIds: readonly string[]): string {
  const folders = moduleIds.flatMap((id) => /^.*node_modules\/(?!\.pnpm)(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? [])
  return [...new Set(folders)].sort().map(noticeOf).join('\n')
}

function noticeOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8')
  return `${'-'.repeat(80)}\n${name} ${version} (${license})\n\n${text}`
}
