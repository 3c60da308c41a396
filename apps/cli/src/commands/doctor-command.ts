import type { ServerConfig } from '@perdure/protocol'
import type { Call } from '../call.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { checkBucket } from '../doctor/check-bucket.ts'
import { checkClock } from '../doctor/check-clock.ts'
import { checkDatabase } from '../doctor/check-database.ts'
import { checkFiles } from '../doctor/check-files.ts'
import { checkIssuers, checkProvider } from '../doctor/check-issuers.ts'
import { checkModels } from '../doctor/check-models.ts'
import { checkPort } from '../doctor/check-port.ts'
import { checkProxy } from '../doctor/check-proxy.ts'
import { checkNode, checkSqlite } from '../doctor/check-runtime.ts'
import { checkStart } from '../doctor/check-start.ts'
import { checkSchema, checkSpace, checkWal, checkWritable } from '../doctor/check-storage.ts'
import { checkTriggers } from '../doctor/check-triggers.ts'
import { type Finding, failFrom, findingText, ok } from '../doctor/finding.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { configBesideDev } from '../server-access/config-beside-dev.ts'

export interface DoctorFlags {
  readonly fix?: boolean
}

export async function doctorCommand({ out, config, finish }: Call, { fix }: DoctorFlags): Promise<void> {
  const found = await checkAll(config)
  const fixed = fix ? await repairAll(found) : []
  const findings = fixed.length === 0 ? found : await checkAll(config)
  const hasPassed = findings.every(({ status }) => status !== 'fail')

  const checks = findings.map(({ repair: _, ...finding }) => finding)
  out.document({ ok: hasPassed, checks, fixed }, (paint) => {
    const lines = checks.map((one) => findingText(one, paint))
    return [...lines, ...fixed.map((done) => `${paint('green', 'fixed')}: ${done}\n`)].join('')
  })
  if (!hasPassed) finish(EXIT_CODES.problem.code)
}

const checkAll = async (load: () => Promise<LoadedConfig>): Promise<readonly Finding[]> => [
  checkNode(),
  await checkSqlite(),
  ...(await checkConfigured(load)),
]

/** Skips a repair that fails, so that its finding is still reported. */
async function repairAll(findings: readonly Finding[]): Promise<readonly string[]> {
  const done: string[] = []
  for (const { repair } of findings) {
    const text = await repair?.().catch(() => undefined)
    if (text !== undefined) done.push(text)
  }
  return done
}

const checkFile = async (config: ServerConfig, loaded: LoadedConfig): Promise<readonly Finding[]> => [
  await checkWritable(config),
  await checkSpace(config),
  await checkSchema(config, loaded),
  checkWal(config),
]

/** If the configuration cannot be read, that is the only finding, because the other checks need the configuration. */
async function checkConfigured(load: () => Promise<LoadedConfig>): Promise<readonly Finding[]> {
  try {
    const loaded = await load()
    const config = configBesideDev(loaded)
    return [
      ok(
        'config',
        loaded.configPath === undefined ? 'no configuration file; using defaults' : `${loaded.configPath} is valid`,
      ),
      ...(await checkStart(config, loaded)),
      ...checkIssuers(config),
      ...checkProvider(config),
      ...(await checkBucket(config, loaded)),
      ...checkFiles(config, loaded),
      ...(config.storage.kind === 'postgres' ? await checkDatabase(config, loaded) : await checkFile(config, loaded)),
      await checkModels(config, loaded),
      checkClock(config, Date.now()),
      ...(await checkTriggers(loaded, Date.now())),
      checkProxy(config),
      await checkPort(config),
    ]
  } catch (error) {
    return [failFrom('config', error, 'fix the configuration')]
  }
}
