// Copies text for the reader, and says so.

/** `place` tells whether it went well. Where the clipboard is closed (plain HTTP elsewhere) the text is shown to be copied. */
export async function copy(text, what, place) {
    try {
        await navigator.clipboard.writeText(text);
        place.textContent = `${what} copied`;
    } catch {
        place.textContent = text;
        getSelection().selectAllChildren(place);
    }
}
