/**
 * Leaves environment variables out of the diagnostic reports of Node.js, and replaces the process title if a token is on
 * the command line, so that the process list shows it only for an instant.
 */
export function hideSecrets(): void {
  process.report.excludeEnv = true
  if (process.argv.some((word) => /^--token(?:=|$)/.test(word))) process.title = 'perdure'
}
