import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Reads a weights file of Kroo and evaluates oware positions with it: the same integers as kroo-engine. One file without
 * dependencies, Java 11 or later; weights/FORMAT.md describes the format. Immutable; any thread.
 *
 * <p>{@code java KrooWeights.java FILE}: positions from standard input, one a line, answered by their evaluation. Exit status 0, or 1
 * when the file or a line was refused.
 */
public final class KrooWeights {
    /** A position as people see it: houses A..F a..f, the stores of South and North, 0 when South is to move, else 1. */
    public static final class Position {
        final int[] houses;
        final int[] stores;
        final int side;

        Position(int[] houses, int[] stores, int side) {
            int seeds = Arrays.stream(houses).sum() + Arrays.stream(stores).sum();
            if (seeds != SEEDS || side < 0 || side > 1) {
                throw new IllegalArgumentException("a position holds 48 seeds and has a side to move");
            }
            this.houses = houses;
            this.stores = stores;
            this.side = side;
        }

        /** {@code 4-4-4-4-4-4-4-4-4-4-4-4-0-0-S} */
        public static Position parse(String text) {
            if (!text.matches("\\d{1,2}(-\\d{1,2}){13}-[SN]")) {
                throw new IllegalArgumentException("\"" + text + "\" is no position");
            }
            String[] fields = text.split("-");
            int[] numbers = Arrays.stream(fields, 0, 14).mapToInt(Integer::parseInt).toArray();
            return new Position(Arrays.copyOfRange(numbers, 0, 12), Arrays.copyOfRange(numbers, 12, 14),
                    fields[14].equals("S") ? 0 : 1);
        }

        /** The six houses and the store of the mover (0) or its opponent (1). */
        private int[] row(int which) {
            int owner = which == 0 ? side : 1 - side;
            int[] row = Arrays.copyOfRange(houses, 6 * owner, 6 * owner + 7);
            row[6] = stores[owner];
            return row;
        }
    }

    private static final int SEEDS = 48;
    private static final int HEADER = 40;
    private static final int VECTORS = 64;
    private static final int VECTOR = 19;
    private static final int TABLE = 1;
    private static final int NET = 2;
    private static final int FEATURES = 3;
    private static final int HIDDEN = 32;
    private static final byte[] MAGIC = {0x4b, 0x52, 0x4f, 0x4f, 0x57, (byte) 0xe2, 0x0d, 0x0a};
    private static final int RULES_MAX = 160;
    private static final int PROVENANCE_MAX = 65536;
    private static final int[][] DIMENSIONS = {{}, {4, 12, 13}, {243, 32, 1}, {4, 24, 1}};
    private static final int[] PAYLOAD = {0, 1264, 15684, 192};

    private final int kind;
    private final int shift;
    private final int hiddenShift;
    private final short[] parameters; // all int16 in the order of the file
    private final int outputBias;
    private final String rules;
    private final String provenance;

    /** Checks magic, size, version, checksum, dimensions and every test position; throws with what is wrong. */
    public KrooWeights(byte[] bytes) {
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        kind = checkHeader(bytes, file);
        shift = bytes[22];
        hiddenShift = bytes[23];
        int rulesLength = file.getShort(28) & 0xffff;
        int payload = HEADER + rulesLength;
        int vectors = payload + PAYLOAD[kind];
        rules = new String(bytes, HEADER, rulesLength, StandardCharsets.UTF_8);
        provenance = new String(bytes, vectors + VECTORS * VECTOR, file.getInt(36), StandardCharsets.UTF_8);
        parameters = new short[(PAYLOAD[kind] - (kind == NET ? 4 : 0)) / 2];
        for (int i = 0; i < parameters.length; i++) {
            parameters[i] = file.getShort(payload + 2 * i);
        }
        outputBias = kind == NET ? file.getInt(vectors - 4) : 0;
        demand(kind == TABLE ? tableFits() : kind != NET || netFits(), "a sum could leave its type");
        checkVectors(bytes, file, vectors);
    }

    private static void demand(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }

    private static int checkHeader(byte[] bytes, ByteBuffer file) {
        demand(bytes.length >= 8 && Arrays.equals(bytes, 0, 8, MAGIC, 0, 8), "this is no weights file of Kroo");
        demand(bytes.length < 10 || file.getShort(8) == 1, "the file has another format version than 1");
        demand(bytes.length >= HEADER + 4 && file.getInt(12) == bytes.length, "the file is cut short or too long");
        CRC32C checksum = new CRC32C();
        checksum.update(bytes, 0, bytes.length - 4);
        demand((int) checksum.getValue() == file.getInt(bytes.length - 4), "the file is damaged");
        int kind = file.getShort(10);
        demand(kind >= TABLE && kind <= FEATURES, "the kind of the weights is unknown");
        for (int i = 0; i < 3; i++) {
            demand(file.getShort(16 + 2 * i) == DIMENSIONS[kind][i], "the dimensions are not those of its kind");
        }
        int rules = file.getShort(28) & 0xffff;
        int provenance = file.getInt(36);
        demand(file.getShort(30) == VECTORS && file.getInt(32) == PAYLOAD[kind] && rules < RULES_MAX
                && provenance >= 0 && provenance <= PROVENANCE_MAX && (kind == NET || bytes[23] == 0)
                && bytes.length == HEADER + rules + PAYLOAD[kind] + VECTORS * VECTOR + provenance + 4,
                "the dimensions are not those of its kind");
        demand(bytes[22] >= 0 && bytes[22] <= 14 && bytes[23] >= 0 && bytes[23] <= 14 && file.getInt(24) >= 0,
                "a shift or the scale is out of range");
        return kind;
    }

    /** The largest of so many parameters, {@code step} apart, without their sign. */
    private long largest(int from, int count, int step) {
        long most = 0;
        for (int i = 0; i < count; i++) {
            most = Math.max(most, Math.abs((long) parameters[from + step * i]));
        }
        return most;
    }

    /** No sum may leave 16 bits, in whatever order it is added; of the output of a net, 32. */
    private boolean tableFits() {
        for (int at = 0; at < parameters.length; at += 158) {
            long bound = largest(at, 1, 1) + SEEDS * largest(at + 1, 1, 1);
            for (int house = 0; house < 12; house++) {
                bound += largest(at + 2 + 13 * house, 13, 1);
            }
            if (bound > Short.MAX_VALUE) {
                return false;
            }
        }
        return true;
    }

    private boolean netFits() {
        long total = Math.abs((long) outputBias);
        for (int unit = 0; unit < HIDDEN; unit++) {
            long bound = largest(unit, 1, 1) + largest(HIDDEN * (1 + 192) + unit, 51, HIDDEN);
            for (int house = 0; house < 12; house++) {
                bound += largest(HIDDEN * (1 + 16 * house) + unit, 16, HIDDEN);
            }
            if (bound > Short.MAX_VALUE) {
                return false;
            }
            total += 127 * largest(HIDDEN * 244 + unit, 1, 1);
        }
        return total <= Integer.MAX_VALUE;
    }

    private void checkVectors(byte[] bytes, ByteBuffer file, int offset) {
        for (int i = 0; i < VECTORS; i++) {
            int at = offset + VECTOR * i;
            int[] numbers = new int[15];
            for (int j = 0; j < 15; j++) {
                numbers[j] = bytes[at + j] & 0xff;
            }
            Position position = new Position(Arrays.copyOfRange(numbers, 0, 12),
                    Arrays.copyOfRange(numbers, 12, 14), numbers[14]);
            demand(evaluate(position) == file.getInt(at + 15), "test position " + i + " does not come out");
        }
    }

    /** Canonical name of the rule set they were made for. */
    public String rules() {
        return rules;
    }

    /** A JSON object in text. */
    public String provenance() {
        return provenance;
    }

    /** Hundredths of a seed in the view of the side to move, -32000 to 32000. */
    public int evaluate(Position position) {
        int[] own = position.row(0);
        int[] other = position.row(1);
        int sum = kind == TABLE ? sumTable(own, other) : kind == NET ? sumNet(own, other) : sumFeatures(own, other);
        return Math.max(-32000, Math.min(32000, sum >> shift));
    }

    private static int phase(int[] own, int[] other) {
        int seeds = SEEDS - own[6] - other[6];
        return seeds >= 36 ? 0 : seeds >= 24 ? 1 : seeds >= 12 ? 2 : 3;
    }

    private int sumTable(int[] own, int[] other) {
        int at = 158 * phase(own, other);
        int sum = parameters[at] + parameters[at + 1] * (own[6] - other[6]);
        for (int house = 0; house < 12; house++) {
            int seeds = house < 6 ? own[house] : other[house - 6];
            sum += parameters[at + 2 + 13 * house + Math.min(seeds, 12)];
        }
        return sum;
    }

    private int sumNet(int[] own, int[] other) {
        int[] rows = new int[13];
        for (int house = 0; house < 12; house++) {
            rows[house] = 16 * house + Math.min(house < 6 ? own[house] : other[house - 6], 15);
        }
        rows[12] = 12 * 16 + 25 + Math.max(-25, Math.min(25, own[6] - other[6]));
        int sum = outputBias;
        for (int unit = 0; unit < HIDDEN; unit++) {
            int value = parameters[unit];
            for (int row : rows) {
                value += parameters[HIDDEN * (1 + row) + unit];
            }
            value = Math.max(0, Math.min(127, value >> hiddenShift));
            sum += parameters[HIDDEN * 244 + unit] * value;
        }
        return sum;
    }

    private int sumFeatures(int[] own, int[] other) {
        int[] seen = new int[24];
        seen[0] = 1;
        seen[1] = own[6] - other[6];
        look(own, other, 0, seen);
        look(other, own, 1, seen);
        int sum = 0;
        for (int i = 0; i < seen.length; i++) {
            sum += parameters[24 * phase(own, other) + i] * seen[i];
        }
        return sum;
    }

    /** What one side sees; indices 2, 4, 6, ... for the mover (0), one more for its opponent (1). */
    private static void look(int[] own, int[] other, int side, int[] out) {
        int vulnerable = 0;
        for (int house = 0; house < 6; house++) {
            int seeds = own[house];
            out[2 + side] += seeds;
            out[4 + side] += seeds > 0 ? 1 : 0;
            out[6 + side] += seeds + house >= 6 ? 1 : 0;
            out[8 + side] += seeds == 1 ? 1 : 0;
            out[10 + side] += seeds == 2 ? 1 : 0;
            out[12 + side] += seeds >= 12 ? 1 : 0;
            out[20 + side] = Math.max(out[20 + side], seeds);
            out[22 + side] += house < 3 ? seeds : 0;
            int[] board = sow(own, other, house);
            int last = board[12];
            int gain = 0;
            int taken = 0;
            for (int at = last; seeds > 0 && at >= 6 && (board[at] == 2 || board[at] == 3); at--) {
                gain += board[at];
                taken |= 1 << at;
            }
            if (gain == 0 || gain == Arrays.stream(board, 6, 12).sum()) {
                continue; // a grand slam captures nothing
            }
            out[14 + side]++;
            out[16 + side] = Math.max(out[16 + side], gain);
            vulnerable |= taken;
        }
        out[19 - side] = Integer.bitCount(vulnerable);
    }

    /** The twelve houses after sowing one, the sower's first, and where the last seed fell. */
    private static int[] sow(int[] own, int[] other, int house) {
        int[] board = new int[13];
        System.arraycopy(own, 0, board, 0, 6);
        System.arraycopy(other, 0, board, 6, 6);
        int at = house;
        board[house] = 0;
        for (int seeds = own[house]; seeds > 0; seeds--) {
            at = (at + 1) % 12;
            at = at == house ? (at + 1) % 12 : at;
            board[at]++;
        }
        board[12] = at;
        return board;
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 1) {
            System.err.println("usage: java KrooWeights.java FILE, positions on standard input");
            System.exit(2);
        }
        int refused = 0;
        try {
            KrooWeights weights = new KrooWeights(Files.readAllBytes(Path.of(arguments[0])));
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                try {
                    System.out.println(weights.evaluate(Position.parse(line)));
                } catch (IllegalArgumentException error) {
                    System.out.println("error: " + error.getMessage());
                    refused++;
                }
            }
        } catch (IllegalArgumentException | IOException error) {
            System.err.println("KrooWeights: " + error.getMessage());
            refused++;
        }
        System.exit(refused > 0 ? 1 : 0);
    }
}
