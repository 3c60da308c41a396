import type { Call } from '../call.ts'

export async function openapiCommand(call: Call): Promise<void> {
  print(call, await call.client().docs.openapi())
}

export async function asyncapiCommand(call: Call): Promise<void> {
  print(call, await call.client().docs.asyncapi())
}

const print = ({ out }: Call, document: unknown): void =>
  out.document(document, () => `${JSON.stringify(document, undefined, 2)}\n`)
