import type { CommandContext } from '../command-context.ts'
import type { ConfigFlags, LoadedConfig } from '../config/load-config.ts'
import { loadForCommand } from '../config/load-for-command.ts'
import { validConfig } from '../config/valid-config.ts'
import { checkPort } from '../doctor/check-port.ts'
import { checkNode, checkSqlite } from '../doctor/check-runtime.ts'
import { checkStart } from '../doctor/check-start.ts'
import { checkSchema, checkWal, checkWritable } from '../doctor/check-storage.ts'
import { type Finding, failFrom, findingText, ok } from '../doctor/finding.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { writeDocument } from '../terminal.ts'

export interface DoctorFlags extends ConfigFlags {
  readonly json?: boolean
}

export async function doctorCommand({ terminal, finish }: CommandContext, flags: DoctorFlags): Promise<void> {
  const findings = [checkNode(), await checkSqlite(), ...(await checkConfigured(() => loadForCommand(terminal, flags)))]
  const isSound = findings.every(({ status }) => status !== 'fail')

  if (flags.json) writeDocument(terminal, { ok: isSound, checks: findings })
  else terminal.stdout.write(findings.map(findingText).join(''))
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
