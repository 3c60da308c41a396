import type { PerdureClient } from '@perdure/client'
import type { CommandContext } from './command-context.ts'
import type { CommandLine } from './command-line.ts'
import type { LoadedConfig } from './config/load-config.ts'
import type { Output } from './output/output.ts'

/** What a command handler receives besides its arguments and flags. */
export interface Call extends CommandContext {
  readonly out: Output
  readonly cli: CommandLine
  /** The client of the server selected by flags, environment or context; created on first use. */
  client(): PerdureClient
  /** The URL that `client` calls. */
  serverUrl(): string
  /** The token that `client` sends. */
  serverToken(): string | undefined
  /** Loads the configuration and prints its warnings. @throws StartError `config-invalid` */
  config(): Promise<LoadedConfig>
}
