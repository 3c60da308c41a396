/** An error as one line of text: `<message> (<code>): <hint>`. */
export function errorLine(error: {
  readonly message: string
  readonly code: string
  readonly hint?: string | undefined
}): string {
  const { message, code, hint } = error
  return `${message.replace(/\.$/, '')} (${code})${hint === undefined ? '' : `: ${hint}`}`
}
