/** The JSON object in a verified body; `undefined` if it is anything else. */
export function jsonObjectIn(body: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

export const textMember = (object: Readonly<Record<string, unknown>> | undefined, name: string): string | undefined => {
  const value = object?.[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
