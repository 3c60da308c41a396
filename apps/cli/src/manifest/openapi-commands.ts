import type { CommandGroup } from './command-spec.ts'
import { answers } from './operation-rows.ts'
import { indented } from './server-rows.ts'

export const openapiCommands: CommandGroup = {
  commands: [
    answers('docs.openapi', {
      path: 'openapi',
      summary: 'print the OpenAPI document of a server',
      examples: ['perdure openapi > openapi.json', 'perdure openapi --json=paths'],
      text: indented,
    }),
  ],
}
