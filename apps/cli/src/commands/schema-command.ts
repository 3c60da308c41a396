import { toJsonSchema } from '@valibot/to-json-schema'
import type { Call } from '../call.ts'
import { unknownCommand } from './unknown-command.ts'

export function schemaCommand({ out, cli }: Call, { command }: { readonly command: readonly string[] }): void {
  const path = command.join(' ')
  const schema = cli.schemaOf(path)
  if (schema === undefined) throw unknownCommand(command, cli.paths)
  const document = {
    title: `perdure ${path} --json`,
    ...toJsonSchema(schema, { errorMode: 'ignore', typeMode: 'output' }),
  }
  out.document(document, () => `${JSON.stringify(document, undefined, 2)}\n`)
}
