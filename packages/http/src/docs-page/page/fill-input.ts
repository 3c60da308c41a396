import { type ExampleSchema, inputExample } from './input-example.ts'

/** The operations that start a run of the agent or workflow in their path. */
const STARTS = /^\/(agents|workflows)\/\{\w+\}\/(run|stream|execute)$/

/**
 * Once the id of an agent or workflow is given, fills the body with an example of its input, unless the body was
 * edited. Without a schema, or without the right to read it, the body stays as it is.
 */
export function fillInput(path: string, id: HTMLElement | undefined, body: HTMLTextAreaElement | undefined): void {
  const [, group] = STARTS.exec(path) ?? []
  if (group === undefined || !(id instanceof HTMLInputElement) || body === undefined) return
  let filled = body.value
  id.addEventListener('change', async () => {
    const schema = await inputSchemaOf(`${group}/${encodeURIComponent(id.value)}`).catch(() => undefined)
    if (schema === undefined || body.value !== filled) return
    filled = JSON.stringify({ input: inputExample(schema) }, undefined, 2)
    body.value = filled
  })
}

async function inputSchemaOf(path: string): Promise<ExampleSchema | undefined> {
  const token = document.querySelector<HTMLInputElement>('#token')?.value.trim() ?? ''
  const headers: Record<string, string> = token === '' ? {} : { Authorization: `Bearer ${token}` }
  const response = await fetch(path, { headers, credentials: 'omit', redirect: 'error' })
  const { inputSchema } = (await response.json()) as { readonly inputSchema?: ExampleSchema }
  return inputSchema
}
