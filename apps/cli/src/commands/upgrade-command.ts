import { statSync } from 'node:fs'
import type { ServerConfig } from '@perdure/protocol'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { checkDatabase } from '../doctor/check-database.ts'
import { checkNode, checkSqlite } from '../doctor/check-runtime.ts'
import { checkStart } from '../doctor/check-start.ts'
import { type Finding, fail, failFrom, findingText, ok, warn } from '../doctor/finding.ts'
import { rehearseMigrations } from '../doctor/rehearse-migrations.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { configBesideDev } from '../server-access/config-beside-dev.ts'
import { readVersion } from '../version.ts'
import { isStranded, type OpenRunProblem, openRunProblems } from './open-run-problems.ts'

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
  const upgrade = await checkUpgrade(config)
  const findings = [checkNode(), await checkSqlite(), ...upgrade.findings]
  const hasPassed = findings.every(({ status }) => status !== 'fail')
  const checks = findings.map(({ repair: _, ...finding }) => finding)
  out.document({ version, ok: hasPassed, checks, runs: upgrade.runs }, (paint) =>
    [`perdure ${version}\n`, ...checks.map((one) => findingText(one, paint))].join(''),
  )
  if (!hasPassed) finish(EXIT_CODES.problem.code)
}

interface UpgradeCheck {
  readonly findings: readonly Finding[]
  /** The open runs; `undefined` if they were not checked. */
  readonly runs?: StrandedRuns
}

interface StrandedRuns {
  readonly checked: number
  readonly stranded: number
  /** The first runs that would not continue. */
  readonly items: readonly OpenRunProblem[]
}

const LISTED_RUNS = 1_000

async function checkUpgrade(load: () => Promise<LoadedConfig>): Promise<UpgradeCheck> {
  try {
    const loaded = await load()
    const config = configBesideDev(loaded)
    const valid = ok('config', `${loaded.configPath ?? 'the default configuration'} is valid in this release`)
    const start = await checkStart(config, loaded)
    const { findings, runs } = await checkStorage(config, loaded)
    return { findings: [valid, ...start, ...findings], ...(runs && { runs }) }
  } catch (error) {
    return { findings: [failFrom('config', error, 'fix the configuration')] }
  }
}

async function checkStorage(config: ServerConfig, loaded: LoadedConfig): Promise<UpgradeCheck> {
  if (config.storage.kind === 'postgres') return checkSharedStorage(config, loaded)
  const found = findDatabase(config)
  if (found.status !== 'ok') return { findings: [found] }
  const { findings, migrated, end } = await rehearseMigrations(config, loaded)
  try {
    if (migrated === undefined) return { findings: [found, ...findings] }
    return withFindings([found, ...findings], await checkRuns(migrated, loaded))
  } finally {
    end()
  }
}

/** Names the file, so that an upgrade in another folder does not go unnoticed. */
function findDatabase({ storage: { path } }: ServerConfig): Finding {
  const fix = 'set storage.path, or PERDURE_STORAGE_PATH, to the database of the server that you upgrade'
  if (path === ':memory:') return warn('storage', 'storage.path is :memory:, which holds nothing to upgrade', fix)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    return warn('storage', `there is no database at ${path}: a start would create an empty one`, fix)
  }
  if (found.isDirectory()) return fail('storage', `${path} is a folder, not a database`, fix)
  return ok('storage', `the database is ${path}`)
}

const withFindings = (findings: readonly Finding[], check: UpgradeCheck): UpgradeCheck => ({
  ...check,
  findings: [...findings, ...check.findings],
})

async function checkSharedStorage(config: ServerConfig, loaded: LoadedConfig): Promise<UpgradeCheck> {
  const findings = await checkDatabase(config, loaded)
  if (findings.every(({ status }) => status === 'ok')) return withFindings(findings, await checkRuns(config, loaded))
  const fix = 'perdure workflows check, after perdure migrate up on a copy of the schema'
  const unknown = warn('runs', 'the open runs cannot be checked before the migrations are applied', fix)
  return { findings: [...findings, unknown] }
}

function continuingText(checked: number): string {
  if (checked === 0) return 'there are no open runs'
  return checked === 1 ? 'the only open run would continue' : `all ${checked} open runs would continue`
}

async function checkRuns(config: ServerConfig, loaded: LoadedConfig): Promise<UpgradeCheck> {
  try {
    const { checked, problems } = await openRunProblems(loaded, config)
    const stranded = problems.filter(isStranded)
    const runs = { checked, stranded: stranded.length, items: stranded.slice(0, LISTED_RUNS) }
    const [first] = stranded
    if (first === undefined) return { findings: [ok('runs', continuingText(checked))], runs }
    const example = `${first.runId}, ${first.target}: ${first.detail}`
    const message = `${stranded.length} of ${checked} open runs would not continue, such as ${example}`
    const fix = 'register the code that they need; perdure upgrade --check --json lists them'
    return { findings: [fail('runs', message, fix)], runs }
  } catch (error) {
    return { findings: [failFrom('runs', error, 'correct the registrations')] }
  }
}
