import type { Refusal } from '@perdure/ports'
import { ERRORS } from '@perdure/protocol'
import { toEnvelope } from './envelope.ts'

/** An error as a page, for a request that the reader has made by opening an address. */
export function errorPage(error: Refusal, requestId: string) {
  const { message, hint } = toEnvelope(error, requestId)
  const lines = [
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign-in failed</title>',
    `<h1>Sign-in failed</h1><p>${escaped(message)}</p>`,
    hint === undefined ? '' : `<p>${escaped(hint)}</p>`,
    '<p><a href="./login">Try again</a> or <a href="./">open the console</a>.</p>',
    `<p><small>${error.code} (${ERRORS[error.code].status}), request ${escaped(requestId)}</small></p></html>`,
  ]
  return {
    text: lines.join('\n'),
    contentType: 'text/html; charset=utf-8',
    headers: {
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    },
  }
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
