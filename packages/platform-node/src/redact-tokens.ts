const TOKEN = /perdure_(?:live|test|local)_v1_\w+/g

/** Replaces everything that looks like a bearer token. The replacement cannot become part of another token. */
export const redactTokens = (text: string): string => text.replace(TOKEN, '[token]')
