import type { CommandSpec, FlagSpec, Target } from './command-spec.ts'

const OUTPUT_FLAGS: readonly FlagSpec[] = [
  { name: 'json', type: 'boolean', note: 'JSON on stdout, also on failure; --json=a,b keeps these members only' },
  { name: 'format', type: 'string', choices: ['table', 'json', 'ndjson'], note: 'how stdout is written' },
  { name: 'quiet', short: 'q', type: 'boolean', note: 'no talk on stderr but errors' },
  { name: 'verbose', type: 'boolean', note: 'more about errors: causes and stacks' },
  { name: 'no-color', type: 'boolean', note: 'no colours; NO_COLOR does the same' },
  { name: 'cwd', type: 'string', value: 'dir', note: 'folder to work in' },
]

const TARGET_FLAGS: Readonly<Record<Target, readonly FlagSpec[]>> = {
  server: [
    {
      name: 'url',
      type: 'string',
      note: 'address of the server with its base path; else PERDURE_URL, then the context',
    },
    { name: 'token', type: 'string', note: 'access token; else PERDURE_TOKEN, then the context' },
    { name: 'context', type: 'string', value: 'name', note: 'a server of perdure context list' },
    {
      name: 'timeout',
      type: 'span',
      value: 'span',
      note: 'how long to wait for an answer, such as 30s',
      default: '10m',
    },
  ],
  storage: [{ name: 'config', type: 'string', value: 'file', note: 'configuration module or JSON file' }],
  none: [],
}

/** All flags of a command: its own, those of its target, those of all. One of its own stands before a shared one. */
export function flagsOf({ flags = [], target }: Pick<CommandSpec, 'flags' | 'target'>): readonly FlagSpec[] {
  const shared = [...TARGET_FLAGS[target], ...OUTPUT_FLAGS]
  return [...flags, ...shared.filter(({ name }) => !flags.some((own) => own.name === name))]
}
