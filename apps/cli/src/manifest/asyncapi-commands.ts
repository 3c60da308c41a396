import type { CommandGroup } from './command-spec.ts'
import { answers } from './operation-rows.ts'
import { indented } from './server-rows.ts'

export const asyncapiCommands: CommandGroup = {
  commands: [
    answers('docs.asyncapi', {
      path: 'asyncapi',
      summary: 'print the AsyncAPI document of a server',
      examples: ['perdure asyncapi > asyncapi.json', 'perdure asyncapi --json=channels'],
      text: indented,
    }),
  ],
}
