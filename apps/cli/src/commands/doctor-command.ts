import type { Call } from '../call.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { validConfig } from '../config/valid-config.ts'
import { checkPort } from '../doctor/check-port.ts'
import { checkNode, checkSqlite } from '../doctor/check-runtime.ts'
import { checkStart } from '../doctor/check-start.ts'
import { checkSchema, checkWal, checkWritable } from '../doctor/check-storage.ts'
import { type Finding, failFrom, findingText, ok } from '../doctor/finding.ts'
import { EXIT_CODES } from '../exit-codes.ts'

export async function doctorCommand({ out, config, finish }: Call): Promise<void> {
  const findings = [checkNode(), await checkSqlite(), ...(await checkConfigured(config))]
  const isSound = findings.every(({ status }) => status !== 'fail')

  out.document({ ok: isSound, checks: findings }, (paint) => findings.map((one) => findingText(one, paint)).join(''))
  if (!isSound) finish(EXIT_CODES.problem.code)
}

/** A configuration that cannot be read leaves nothing else to check. */
async function checkConfigured(load: () => Promise<LoadedConfig>): Promise<readonly Finding[]> {
  try {
    const loaded = await load()
    const config = validConfig(loaded)
    return [
      ok(
        'config',
        loaded.configPath === undefined ? 'no configuration file, defaults apply' : `${loaded.configPath} is valid`,
      ),
      ...(await checkStart(config, loaded)),
      await checkWritable(config),
      await checkSchema(config, loaded),
      checkWal(config),
      await checkPort(config),
    ]
  } catch (error) {
    return [failFrom('config', error, 'correct the configuration')]
  }
}
