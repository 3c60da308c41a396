import { OUTPUT_FORMATS } from '../output/output.ts'
import type { CommandSpec, FlagSpec, Target } from './command-spec.ts'

const OUTPUT_FLAGS: readonly FlagSpec[] = [
  { name: 'json', type: 'boolean', note: 'write JSON to stdout, even on failure; --json=a,b keeps only these fields' },
  { name: 'format', type: 'string', choices: OUTPUT_FORMATS, note: 'write stdout in this format' },
  { name: 'quiet', short: 'q', type: 'boolean', note: 'print only errors to stderr' },
  { name: 'verbose', type: 'boolean', note: 'print the stack trace of an error' },
  { name: 'no-color', type: 'boolean', note: 'disable colours, like NO_COLOR' },
  { name: 'cwd', type: 'string', value: 'dir', note: 'run in this folder' },
]

const TARGET_FLAGS: Readonly<Record<Target, readonly FlagSpec[]>> = {
  server: [
    {
      name: 'url',
      type: 'string',
      note: 'use the server at this URL, including the base path (default: PERDURE_URL, then the context, then this machine and PERDURE_SERVER_PORT)',
    },
    {
      name: 'token',
      type: 'secret',
      note: 'read the access token from a file (@file) or from stdin (-); a token on the command line is visible to other users (default: PERDURE_TOKEN, then the context)',
    },
    { name: 'context', type: 'string', value: 'name', note: 'use this saved server; perdure context list shows them' },
    {
      name: 'timeout',
      type: 'duration',
      value: 'duration',
      note: 'wait at most this long for a response, such as 30s',
      default: '10m',
    },
  ],
  storage: [{ name: 'config', type: 'string', value: 'file', note: 'load this configuration module or JSON file' }],
  none: [],
}

/**
 * All flags of a command: its own flags, the flags of its target and the common flags. A flag of the command overrides
 * a shared flag with the same name.
 */
export function flagsOf({ flags = [], target }: Pick<CommandSpec, 'flags' | 'target'>): readonly FlagSpec[] {
  const shared = [...TARGET_FLAGS[target], ...OUTPUT_FLAGS]
  return [...flags, ...shared.filter(({ name }) => !flags.some((own) => own.name === name))]
}
