import { chmodSync, type Stats, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { configFields, type ServerConfig } from '@perdure/protocol'
import type { LoadedConfig } from '../config/load-config.ts'
import { referencesAt } from '../config/secret-references.ts'
import { devPepperPath } from '../dev/dev-pepper.ts'
import { type Finding, ok, warn } from './finding.ts'
import { shellWord } from './shell-word.ts'

const BEYOND_OWNER = 0o077

/** Warns about secret files and databases that users other than their owner can access. */
export function checkFiles(config: ServerConfig, { configDir }: Pick<LoadedConfig, 'configDir'>): readonly Finding[] {
  const { path } = config.storage
  const secrets = configFields
    .filter(({ isSecret }) => isSecret)
    .flatMap((field) => referencesAt(config, field.path))
    .filter((reference) => reference.startsWith('file:'))
    .map((reference) => resolve(configDir, reference.slice('file:'.length)))
  const data = config.storage.kind === 'sqlite' ? [path, `${path}-wal`, resolve(configDir, config.audit.path)] : []
  const files = new Set([...secrets, devPepperPath(path), ...data])
  const open = process.platform === 'win32' ? [] : [...files].flatMap(openFinding)
  return open.length > 0 ? open : [ok('files', 'only their owner can access secrets and data')]
}

function openFinding(file: string): readonly Finding[] {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined || !stats.isFile() || (stats.mode & BEYOND_OWNER) === 0) return []
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0')
  const finding = warn('files', `${file} has mode ${mode}: other users can access it`, `chmod 600 ${shellWord(file)}`)
  return [isOwn(stats) ? { ...finding, repair: () => restrict(file) } : finding]
}

const isOwn = ({ uid }: Stats): boolean => uid === process.getuid?.()

async function restrict(file: string): Promise<string> {
  chmodSync(file, 0o600)
  return `restricted ${file} to its owner`
}
