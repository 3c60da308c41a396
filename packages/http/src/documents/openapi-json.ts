export type Json = Readonly<Record<string, unknown>>

/** A reference to a component of the document. */
export const componentRef = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` })

export const isEmpty = (object: object): boolean => Object.keys(object).length === 0

/** `agent-not-found` → `AgentNotFound`. */
export const pascalCase = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')
