import { existsSync } from 'node:fs'
import type { ServerConfig } from '@perdure/protocol'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { checkDatabase } from '../doctor/check-database.ts'
import { checkNode, checkSqlite } from '../doctor/check-runtime.ts'
import { checkStart } from '../doctor/check-start.ts'
import { checkSchema } from '../doctor/check-storage.ts'
import { type Finding, fail, failFrom, findingText, ok, warn } from '../doctor/finding.ts'
import { rehearseMigrations } from '../doctor/rehearse-migrations.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { configBesideDev } from '../server-access/config-beside-dev.ts'
import { readVersion } from '../version.ts'
import { isStranded, openRunProblems } from './open-run-problems.ts'

export interface UpgradeFlags {
  readonly check?: boolean
}

/** Says what a start of this release would change in the storage, and which open runs it could not continue. */
export async function upgradeCommand({ config, out, finish }: Call, { check }: UpgradeFlags): Promise<void> {
  if (!check) {
    throw usageError(
      'perdure upgrade only checks; the first start of a release upgrades the storage',
      'perdure upgrade --check',
    )
  }
  const version = readVersion()
  const findings = [checkNode(), await checkSqlite(), ...(await checkUpgrade(config))]
  const hasPassed = findings.every(({ status }) => status !== 'fail')
  const checks = findings.map(({ repair: _, ...finding }) => finding)
  out.document({ version, ok: hasPassed, checks }, (paint) =>
    [`perdure ${version}\n`, ...checks.map((one) => findingText(one, paint))].join(''),
  )
  if (!hasPassed) finish(EXIT_CODES.problem.code)
}

async function checkUpgrade(load: () => Promise<LoadedConfig>): Promise<readonly Finding[]> {
  try {
    const loaded = await load()
    const config = configBesideDev(loaded)
    const valid = ok('config', `${loaded.configPath ?? 'the default configuration'} is valid in this release`)
    return [valid, ...(await checkStart(config, loaded)), ...(await checkStorage(config, loaded))]
  } catch (error) {
    return [failFrom('config', error, 'fix the configuration')]
  }
}

async function checkStorage(config: ServerConfig, loaded: LoadedConfig): Promise<readonly Finding[]> {
  const { kind, path } = config.storage
  if (kind === 'postgres') return checkSharedStorage(config, loaded)
  if (!existsSync(path)) return [await checkSchema(config, loaded)]
  const { findings, migrated, end } = await rehearseMigrations(config, loaded)
  try {
    return migrated === undefined ? findings : [...findings, ...(await checkRuns(migrated, loaded))]
  } finally {
    end()
  }
}

async function checkSharedStorage(config: ServerConfig, loaded: LoadedConfig): Promise<readonly Finding[]> {
  const findings = await checkDatabase(config, loaded)
  if (findings.every(({ status }) => status === 'ok')) return [...findings, ...(await checkRuns(config, loaded))]
  const fix = 'perdure workflows check, after perdure migrate up on a copy of the schema'
  return [...findings, warn('runs', 'the open runs cannot be checked before the migrations are applied', fix)]
}

async function checkRuns(config: ServerConfig, loaded: LoadedConfig): Promise<readonly Finding[]> {
  try {
    const { checked, problems } = await openRunProblems(loaded, config)
    const stranded = problems.filter(isStranded)
    if (stranded.length === 0) return [ok('runs', `all ${checked} open runs would continue`)]
    const [first] = stranded
    const example = `${first?.runId}, ${first?.target}: ${first?.detail}`
    const message = `${stranded.length} of ${checked} open runs would not continue, such as ${example}`
    return [
      fail('runs', message, 'register the code that they need; perdure workflows check lists them after the upgrade'),
    ]
  } catch (error) {
    return [failFrom('runs', error, 'correct the registrations')]
  }
}
