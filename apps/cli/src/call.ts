import type { PerdureClient } from '@perdure/client'
import type { CommandContext } from './command-context.ts'
import type { CommandLine } from './command-line.ts'
import type { LoadedConfig } from './config/load-config.ts'
import type { Output } from './output/output.ts'

/** What a command gets besides its arguments and flags. */
export interface Call extends CommandContext {
  readonly out: Output
  readonly cli: CommandLine
  /** Of the server that flags, environment or context name; made on first use. */
  client(): PerdureClient
  /** The address that `client` speaks to. */
  serverUrl(): string
  /** The configuration, with its warnings told. @throws StartError `config-invalid` */
  config(): Promise<LoadedConfig>
}
